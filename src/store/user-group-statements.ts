import { sql } from './database.ts'

export type UserGroupRow = [id: number, providedId: string, name: string, keyId: string, sealed: Uint8Array]

export const byProvidedId = sql<UserGroupRow>`
  select id, provided_id, name, token_key, token_sealed from user_group
  where team_id = $1 and provided_id = $2`

export const insertUnlessThere = sql<[id: number]>`
  insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
    updated_at, mapping, properties)
  values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, $9, $10)
  on conflict do nothing
  returning id`

export const ownerOfToken = sql<[id: number]>`
  select id from user_group where team_id = $1 and token_hash = $2`

export const replaceToken = sql<UserGroupRow>`
  update user_group set token_hash = $4, token_sealed = $5, token_key = $6, token_rotated_at = $7
  where team_id = $1 and id = $2 and token_hash = $3
  returning id, provided_id, name, token_key, token_sealed`

export const rememberFormer = sql`
  insert into former_token (hash, user_group_id, rotated_at, valid_until) values ($1, $2, $3, $4)`

export const endFormer = sql`
  update former_token set valid_until = rotated_at where user_group_id = $1 and valid_until > rotated_at`

export const ownerOfFormer = sql<UserGroupRow>`
  select g.id, g.provided_id, g.name, g.token_key, g.token_sealed
  from former_token f join user_group g on g.id = f.user_group_id
  where g.team_id = $1 and f.hash = $2`

export type VerifiedRow = [
  providedId: string,
  name: string,
  disabled: number,
  mapping: string,
  properties: string,
  validUntil: number | null,
]

export const verifyCurrent = sql<VerifiedRow>`
  select provided_id, name, disabled, mapping, properties, null from user_group
  where team_id = $1 and token_hash = $2`

/** One that ended with its rotation has ended for every clock, also for one that is behind that of the rotation. */
export const verifyFormer = sql<VerifiedRow>`
  select g.provided_id, g.name, g.disabled, g.mapping, g.properties,
    case when f.valid_until > f.rotated_at then f.valid_until else 0 end
  from former_token f join user_group g on g.id = f.user_group_id
  where g.team_id = $1 and f.hash = $2`

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

export const recordByProvidedId = sql<RecordRow>`
  select id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at from user_group
  where team_id = $1 and provided_id = $2`

export const listAfter = sql<RecordRow>`
  select id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at from user_group
  where team_id = $1 and id > $2 order by id limit $3`

/** How many begin with a prefix, counted no further than a limit: by two indexes, so it costs as little as it counts. */
export const countPrefix = sql<[count: number]>`
  select (select count(*) from (select 1 from user_group
      where team_id = $1 and lower(provided_id) >= $2 and lower(provided_id) < $3 limit $4) as by_id)
    + (select count(*) from (select 1 from user_group
      where team_id = $1 and lower(name) >= $2 and lower(name) < $3 limit $4) as by_name)`

export const listFewByPrefix = sql<RecordRow>`
  select id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at from user_group
  where id in (
      select id from user_group where team_id = $1 and lower(provided_id) >= $2 and lower(provided_id) < $3
      union
      select id from user_group where team_id = $1 and lower(name) >= $2 and lower(name) < $3)
    and id > $4
  order by id limit $5`

/** Looks at a stretch of the list, and at no more of it, for those that begin with a prefix. */
export const listStretchByPrefix = sql<RecordRow>`
  select id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at
  from (select * from user_group where team_id = $1 and id > $4 order by id limit $6) as stretch
  where (lower(provided_id) >= $2 and lower(provided_id) < $3) or (lower(name) >= $2 and lower(name) < $3)
  order by id limit $5`

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
  returning id, provided_id, name, mapping, properties, disabled, created_at, updated_at, token_rotated_at`

export const deleteGroup = sql<[id: number]>`
  delete from user_group where team_id = $1 and provided_id = $2 returning id`
