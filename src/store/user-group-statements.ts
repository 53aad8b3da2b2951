import type { DataSourceRow } from './data-source-row.ts'
import { fragment, shared, sharedChange, sql } from './database.ts'

/** Without the provided id: who asks by it knows it, and every column of a row has its price. */
export type UserGroupRow = [id: number, name: string, keyId: string, sealed: Uint8Array]

export const byProvidedId = shared<UserGroupRow>('bigint', 'text')`
  select id, name, token_key, token_sealed from user_group
  where team_id = $1 and provided_id = $2`

export const insertUnlessThere = sharedChange<[id: number]>(
  ...['bigint', 'bigint', 'text', 'text', 'bytea', 'bytea', 'text', 'bigint', 'text', 'text'],
)`
  insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
    updated_at, mapping, properties)
  values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, $9, $10)
  on conflict do nothing
  returning id`

// $2 is the group that a token leads to, if it does, and $3 its hash. On SQLite a table leads from the hash of any other
// token to its group: migration 6 says why.
const hasToken = {
  postgres: 'g.id = coalesce($2, g.id) and g.token_hash = $3',
  sqlite: 'g.id = coalesce($2, (select user_group_id from token where hash = $3)) and g.token_hash = $3',
}
// For one that no group was found to have. An import may have brought it to another group than it leads to, by its long
// hash, $3. Else it was a token of the group that it leads to; or was made from one, and opens nothing.
const broughtOrHadToken = {
  postgres: `g.id = coalesce((select id from user_group where token_hash = $3),
    (select user_group_id from former_token where hash = $3), $2)`,
  sqlite: 'g.id = coalesce((select user_group_id from token where hash = $3), $2)',
}

/** All tokens there are or were, of any team, and whose each is; without those that lead to their group. */
export const everyToken = {
  postgres: `(
    select token_hash as hash, id as user_group_id from user_group
    union all
    select hash, user_group_id from former_token) as token`,
  sqlite: 'token',
}

export type OwnerRow = [id: number, providedId: string, name: string, issuedAt: number | null, hasGrace: number]

/**
 * Nobody else changes the group until the commit, so that it needs no second look to replace its token. `hasGrace`: a
 * former token of the group is valid still. Few have one, and to look is cheaper than to end none.
 */
export const ownerOfToken = shared<OwnerRow>('bigint', 'bigint', 'bytea')`
  select id, provided_id, name, token_rotated_at, case when exists (
    select 1 from former_token f where f.user_group_id = g.id and f.valid_until > f.rotated_at) then 1 else 0 end
  from user_group g where team_id = $1 and ${hasToken}
  for update of g`

export const replaceToken = shared('bigint', 'bigint', 'bytea', 'bytea', 'text', 'bigint')`
  update user_group set token_hash = $3, token_sealed = $4, token_key = $5, token_rotated_at = $6
  where id = $1 and team_id = $2`

export const rememberFormer = shared('bytea', 'bigint', 'bigint', 'bigint', 'bigint')`
  insert into former_token (hash, user_group_id, issued_at, rotated_at, valid_until) values ($1, $2, $3, $4, $5)`

export const endFormer = shared('bigint')`
  update former_token set valid_until = rotated_at where user_group_id = $1 and valid_until > rotated_at`

export type OtherOwnerRow = [isBrought: number, providedId: string, ...UserGroupRow]

export const otherOwner = shared<OtherOwnerRow>('bigint', 'bigint', 'bytea')`
  select case when g.token_hash = $3 then 1 else 0 end, provided_id, id, name, token_key, token_sealed
  from user_group g where team_id = $1 and ${broughtOrHadToken}`

export type VerifiedRow = [
  providedId: string,
  name: string,
  disabled: number,
  mapping: string,
  properties: string,
  validUntil: number | null,
]

export const verifyCurrent = shared<VerifiedRow>('bigint', 'bigint', 'bytea')`
  select provided_id, name, disabled, mapping, properties, null from user_group g
  where team_id = $1 and ${hasToken}`

// Without grace it is over whatever the time: the clock of the machine that rotated it may be ahead of ours.
const validUntil = fragment`case when g.token_hash = $3 then null else coalesce((
    select max(f.valid_until) from former_token f
    where f.user_group_id = g.id and f.hash in ($3, $4) and f.valid_until > f.rotated_at), 0) end`

export const verifyOther = shared<VerifiedRow>('bigint', 'bigint', 'bytea', 'bytea')`
  select provided_id, name, disabled, mapping, properties, ${validUntil} from user_group g
  where team_id = $1 and ${broughtOrHadToken}`

type Nothing<Row> = { [Column in keyof Row]: null }
export type MappedRow = [...VerifiedRow, ...Nothing<DataSourceRow>] | [...Nothing<VerifiedRow>, ...DataSourceRow]

// The same, and a row for each data source the mapping leads to. All of one moment: else a data source might have given up
// its id meanwhile, and that of another customer taken it.
export const verifyMappedCurrent = sql<MappedRow>`
  select provided_id, name, disabled, mapping, properties, null, null, null, null, null, null, null, null
  from user_group g where team_id = $1 and ${hasToken}
  union all
  select null, null, null, null, null, null, d.id, d.provided_id, d.schema_id, d.name, d.kind, d.created_at, d.updated_at
  from user_group g
  join mapping_entry m on m.user_group_id = g.id
  join data_source d on d.team_id = g.team_id and (d.id = m.data_source or d.provided_id = m.data_source)
  where g.team_id = $1 and ${hasToken}`

export const verifyMappedOther = sql<MappedRow>`
  select provided_id, name, disabled, mapping, properties, ${validUntil}, null, null, null, null, null, null, null
  from user_group g where team_id = $1 and ${broughtOrHadToken}
  union all
  select null, null, null, null, null, null, d.id, d.provided_id, d.schema_id, d.name, d.kind, d.created_at, d.updated_at
  from user_group g
  join mapping_entry m on m.user_group_id = g.id
  join data_source d on d.team_id = g.team_id and (d.id = m.data_source or d.provided_id = m.data_source)
  where g.team_id = $1 and ${broughtOrHadToken}`

export type RecordRow = [
  id: number,
  providedId: string,
  name: string,
  mapping: string,
  properties: string,
  disabled: number,
  createdAt: number,
  updatedAt: number,
  tokenRotatedAt: number | null,
]

export const recordColumns = fragment`
  id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at`

export const recordByProvidedId = sql<RecordRow>`
  select ${recordColumns} from user_group where team_id = $1 and provided_id = $2`

export const eitherProvidedId = sql<[id: number]>`
  select id from user_group where team_id = $1 and provided_id in ($2, $3)`

export const listAfter = sql<RecordRow>`
  select ${recordColumns} from user_group where team_id = $1 and id > $2 order by id limit $3`

/**
 * How many begin with a prefix, counted no further than a limit: by three indexes, so it costs as little as it counts.
 * The second holds ids that are not in lower case, the third names that are not the id; one group may be in all three.
 */
export const countPrefix = sql<[count: number]>`
  select (select count(*) from (select 1 from user_group
      where team_id = $1 and provided_id >= $2 and provided_id < $3 limit $4) as by_id)
    + (select count(*) from (select 1 from user_group
      where team_id = $1 and lower(provided_id) >= $2 and lower(provided_id) < $3
        and provided_id <> lower(provided_id) limit $4) as by_lower_id)
    + (select count(*) from (select 1 from user_group
      where team_id = $1 and lower(name) >= $2 and lower(name) < $3 and name <> provided_id limit $4) as by_name)`

export const listFewByPrefix = sql<RecordRow>`
  select ${recordColumns} from user_group
  where id in (
      select id from user_group where team_id = $1 and provided_id >= $2 and provided_id < $3
      union
      select id from user_group where team_id = $1 and lower(provided_id) >= $2 and lower(provided_id) < $3
        and provided_id <> lower(provided_id)
      union
      select id from user_group where team_id = $1 and lower(name) >= $2 and lower(name) < $3 and name <> provided_id)
    and id > $4
  order by id limit $5`

/** Looks at a stretch of the list, and at no more of it, for those that begin with a prefix. */
export const listStretchByPrefix = sql<RecordRow>`
  select ${recordColumns} from user_group
  where team_id = $1 and id > $4 and id <= $5
    and ((lower(provided_id) >= $2 and lower(provided_id) < $3) or (lower(name) >= $2 and lower(name) < $3))
  order by id limit $6`

export const endOfStretch = sql<[last: number | null, count: number]>`
  select max(id), count(*) from (select id from user_group where team_id = $1 and id > $2 order by id limit $3) as stretch`

export const updateRecord = sql<RecordRow>`
  update user_group set
    provided_id = coalesce($3, provided_id),
    name = coalesce($4, name),
    mapping = coalesce($5, mapping),
    properties = coalesce($6, properties),
    disabled = coalesce($7, disabled),
    updated_at = $8
  where team_id = $1 and provided_id = $2
  returning ${recordColumns}`

export const deleteGroup = sql<[id: number, rotatedAt: number | null]>`
  delete from user_group where team_id = $1 and provided_id = $2 returning id, token_rotated_at`

/** All former tokens of a group, each found by the time from which the next one was valid: they have no index by group. */
export const forgetFormer = sql`
  with recursive rotation (at) as (
    select cast($2 as bigint)
    union
    select f.issued_at from rotation join former_token f on f.rotated_at = rotation.at and f.user_group_id = $1)
  delete from former_token where user_group_id = $1 and rotated_at in (select at from rotation)`
