import { sql } from '../database.ts'

// On SQLite, every token there is or was in one table: a rotation adds to it, and leaves the place of the token that it ends
// alone. Where current and former tokens had tables of their own, found by hash and by group, it changed five scattered
// pages of a large database; now it changes two. PostgreSQL does not write whole pages, and would only have one more table
// to look at.
//
// The database keeps the table in step with the two others by itself, so that processes of an older version can work
// beside newer ones. They find tokens by the hashes in those two, though without an index.
//
// A token that was another's already stays theirs: an import looks for that.
const fillTokens = sql`
  insert into token (hash, user_group_id)
  select hash, user_group_id from (
    select token_hash as hash, id as user_group_id, 0 as turn from user_group
    union all
    select hash, user_group_id, 1 from former_token)
  where true order by hash, turn
  on conflict do nothing`

// `issued_at` is when the group's token before was rotated, and leads to that one: so they are found without an index by
// group. Null for a first token, and for what a process of an older version rotates.
const chainFormerTokens = [
  sql`create table next_former_token (
    hash bytea not null,
    user_group_id bigint not null,
    rotated_at bigint not null,
    valid_until bigint not null,
    issued_at bigint
  )`,
  sql`insert into next_former_token
    select hash, user_group_id, rotated_at, valid_until,
      lag(rotated_at) over (partition by user_group_id order by rotated_at)
    from former_token order by rotated_at`,
  sql`drop table former_token`,
  sql`alter table next_former_token rename to former_token`,
  sql`create index former_token_by_rotation on former_token (rotated_at)`,
  sql`create index former_token_in_grace on former_token (user_group_id) where valid_until > rotated_at`,
]

// SQLite drops no constraint of a table, so it is made anew. What refers to it is copied first: dropping it would empty that.
const groupsByTokenNoMore = [
  sql`create table next_user_group (
    id bigint primary key,
    team_id bigint not null references team (id),
    provided_id text not null,
    name text not null,
    token_hash bytea not null,
    token_sealed bytea not null,
    token_key text not null references master_key (id),
    token_rotated_at bigint,
    disabled smallint not null,
    created_at bigint not null,
    updated_at bigint not null,
    mapping text not null,
    properties text not null
  )`,
  sql`insert into next_user_group select * from user_group`,
  sql`create table next_mapping_entry (
    team_id bigint not null references team (id),
    data_source text not null,
    user_group_id bigint not null references next_user_group (id) on delete cascade,
    schema_id text not null,
    primary key (user_group_id, schema_id)
  )`,
  sql`insert into next_mapping_entry select * from mapping_entry order by user_group_id, schema_id`,
  sql`drop table mapping_entry`,
  sql`drop table user_group`,
  sql`alter table next_user_group rename to user_group`,
  sql`alter table next_mapping_entry rename to mapping_entry`,
  // Of rows that are there: beside each of them as it comes, it would be written many times over.
  sql`create unique index user_group_of_team_by_provided_id on user_group (team_id, provided_id)`,
  sql`create index user_group_of_team on user_group (team_id, id)`,
  sql`create index user_group_by_lower_id on user_group (team_id, lower(provided_id)) where provided_id <> lower(provided_id)`,
  sql`create index user_group_by_own_name on user_group (team_id, lower(name)) where name <> provided_id`,
  sql`create index mapping_entry_of_data_source on mapping_entry (team_id, data_source)`,
]

const keepInStep = [
  sql`create trigger token_made after insert on user_group begin
    insert into token (hash, user_group_id) values (new.token_hash, new.id) on conflict do nothing;
  end`,
  sql`create trigger token_replaced after update of token_hash on user_group when new.token_hash <> old.token_hash begin
    insert into token (hash, user_group_id) values (new.token_hash, new.id);
  end`,
  sql`create trigger token_deleted after delete on user_group begin
    delete from token where hash = old.token_hash and user_group_id = old.id;
  end`,
  sql`create trigger token_forgotten after delete on former_token begin
    delete from token where hash = old.hash and user_group_id = old.user_group_id;
  end`,
]

export const tokensInOnePlace = {
  sqlite: [
    sql`create table token (hash bytea primary key, user_group_id bigint not null) strict, without rowid`,
    fillTokens,
    ...chainFormerTokens,
    ...groupsByTokenNoMore,
    ...keepInStep,
  ],
  postgres: [sql`alter table former_token add column issued_at bigint`],
}
