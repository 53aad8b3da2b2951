import { sql } from '../database.ts'

// Columns that can be large come last: SQLite then finds the others without reading past them.
export const contract = [
  sql`create table team (
    id bigint primary key,
    name text not null,
    created_at bigint not null
  )`,
  // For each master key in use, the database's look-up key sealed under it: who opens it has the right key.
  sql`create table master_key (
    id text primary key,
    lookup_key bytea not null,
    created_at bigint not null
  )`,
  sql`create table api_token (
    id bigint primary key,
    team_id bigint not null references team (id),
    hash bytea not null unique,
    name text not null,
    scopes text not null,
    created_at bigint not null,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint
  )`,
  sql`create index api_token_team on api_token (team_id, id)`,
  sql`create table user_group (
    id bigint primary key,
    team_id bigint not null references team (id),
    provided_id text collate "C" not null,
    name text not null,
    token_hash bytea not null unique,
    token_sealed bytea not null,
    token_key text not null references master_key (id),
    token_rotated_at bigint,
    disabled smallint not null,
    created_at bigint not null,
    updated_at bigint not null,
    mapping text not null,
    properties text not null,
    unique (team_id, provided_id)
  )`,
  sql`create table former_token (
    hash bytea primary key,
    user_group_id bigint not null references user_group (id) on delete cascade,
    rotated_at bigint not null,
    valid_until bigint not null
  )`,
  sql`create index former_token_user_group on former_token (user_group_id)`,
]
