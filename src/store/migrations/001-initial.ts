import { sql } from '../database.ts'

// Texts that are searched or sorted by are compared byte by byte, on every machine alike: collate "C".
// Columns that can be large come last: SQLite then finds the others without reading past them.
export const initial = [
  sql`create table team (
    id bigint primary key,
    name text not null,
    strict_mapping smallint not null,
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
  sql`create index api_token_of_team on api_token (team_id, id)`,
  sql`create table user_group (
    id bigint primary key,
    team_id bigint not null references team (id),
    provided_id text collate "C" not null,
    name text collate "C" not null,
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
  sql`create index user_group_of_team on user_group (team_id, id)`,
  sql`create index user_group_by_provided_id on user_group (team_id, lower(provided_id))`,
  sql`create index user_group_by_name on user_group (team_id, lower(name))`,
  sql`create table former_token (
    hash bytea primary key,
    user_group_id bigint not null references user_group (id) on delete cascade,
    rotated_at bigint not null,
    valid_until bigint not null
  )`,
  sql`create index former_token_of_user_group on former_token (user_group_id)`,
  sql`create index former_token_by_age on former_token (valid_until)`,
  // The mappings once more, a row an entry: which groups use a data source is asked before it is deleted.
  sql`create table mapping_entry (
    team_id bigint not null references team (id),
    data_source text collate "C" not null,
    user_group_id bigint not null references user_group (id) on delete cascade,
    schema_id text collate "C" not null,
    primary key (user_group_id, schema_id)
  )`,
  sql`create index mapping_entry_of_data_source on mapping_entry (team_id, data_source)`,
  sql`create table data_schema (
    team_id bigint not null references team (id),
    id text collate "C" not null,
    name text not null,
    created_at bigint not null,
    primary key (team_id, id)
  )`,
  sql`create table data_source (
    id text collate "C" primary key,
    team_id bigint not null references team (id),
    schema_id text collate "C" not null,
    provided_id text collate "C",
    name text not null,
    kind text,
    created_at bigint not null,
    updated_at bigint not null,
    connection_key text references master_key (id),
    connection_sealed bytea,
    unique (team_id, provided_id),
    foreign key (team_id, schema_id) references data_schema (team_id, id)
  )`,
  sql`create index data_source_of_team on data_source (team_id, id)`,
  sql`create index data_source_of_schema on data_source (team_id, schema_id)`,
  // The last event of each team. Taking the next number locks the row until the commit, so that a team's events become
  // visible in the order of their numbers, and a reader that remembers the last one it saw misses none.
  sql`create table event_position (
    team_id bigint primary key references team (id),
    last bigint not null
  )`,
  sql`create table event (
    team_id bigint not null references team (id),
    id bigint not null,
    at bigint not null,
    kind text not null,
    api_token text,
    subject text,
    renamed_to text,
    primary key (team_id, id)
  )`,
  sql`create index event_by_age on event (at)`,
]
