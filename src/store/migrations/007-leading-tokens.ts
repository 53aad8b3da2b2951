import { sql } from '../database.ts'

// A token that leads to its group, whose hash is shorter than that of any other, needs no row in SQLite's table of tokens.
// That row changed a page of a large database that nothing else did: a quarter of a create, and a sixth of a rotation.
export const leadingTokens = {
  sqlite: [
    sql`drop trigger token_made`,
    sql`drop trigger token_replaced`,
    sql`drop trigger token_deleted`,
    sql`drop trigger token_forgotten`,
    sql`create trigger token_made after insert on user_group when length(new.token_hash) <> 20 begin
      insert into token (hash, user_group_id) values (new.token_hash, new.id) on conflict do nothing;
    end`,
    sql`create trigger token_replaced after update of token_hash on user_group
      when new.token_hash <> old.token_hash and length(new.token_hash) <> 20 begin
      insert into token (hash, user_group_id) values (new.token_hash, new.id);
    end`,
    sql`create trigger token_deleted after delete on user_group when length(old.token_hash) <> 20 begin
      delete from token where hash = old.token_hash and user_group_id = old.id;
    end`,
    sql`create trigger token_forgotten after delete on former_token when length(old.hash) <> 20 begin
      delete from token where hash = old.hash and user_group_id = old.user_group_id;
    end`,
  ],
  postgres: [],
}
