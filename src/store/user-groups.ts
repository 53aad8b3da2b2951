import { ServiceError } from '../errors.ts'
import type { SealedToken } from '../tokens/tokens.ts'
import type { NewUserGroup, UserGroup } from '../user-groups/user-group.ts'
import { type Database, run, sql } from './database.ts'
import type { TokenReplacement, UserGroups } from './store.ts'

type UserGroupRow = [id: number, providedId: string, name: string, keyId: string, sealed: Uint8Array]

const byProvidedId = sql<UserGroupRow>`
  select id, provided_id, name, token_key, token_sealed from user_group
  where team_id = $1 and provided_id = $2`

const insertUnlessThere = sql<[id: number]>`
  insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
    updated_at, mapping, properties)
  values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $8, $9, $10)
  on conflict do nothing
  returning id`

const ownerOfToken = sql<[id: number]>`
  select id from user_group where team_id = $1 and token_hash = $2`

const replaceToken = sql<UserGroupRow>`
  update user_group set token_hash = $4, token_sealed = $5, token_key = $6, token_rotated_at = $7
  where team_id = $1 and id = $2 and token_hash = $3
  returning id, provided_id, name, token_key, token_sealed`

const rememberFormer = sql`
  insert into former_token (hash, user_group_id, rotated_at, valid_until) values ($1, $2, $3, $4)`

const endFormer = sql`
  update former_token set valid_until = $2 where user_group_id = $1 and valid_until > $2`

const ownerOfFormer = sql<UserGroupRow>`
  select g.id, g.provided_id, g.name, g.token_key, g.token_sealed
  from former_token f join user_group g on g.id = f.user_group_id
  where g.team_id = $1 and f.hash = $2`

export class UserGroupStore implements UserGroups {
  readonly #database: Database
  readonly #teamId: number

  constructor(database: Database, teamId: number) {
    this.#database = database
    this.#teamId = teamId
  }

  async find(providedId: string): Promise<UserGroup | undefined> {
    const [row] = await this.#database.read(byProvidedId, this.#teamId, providedId)
    return row && this.#userGroup(row)
  }

  async getOrCreate(make: () => NewUserGroup, now: number): Promise<{ group: UserGroup; created: boolean }> {
    const teamId = this.#teamId
    let wish = make()
    const row = await this.#database.write(function* () {
      for (;;) {
        const { id, providedId, name, token, mapping, properties } = wish
        yield* run(
          insertUnlessThere,
          ...[id, teamId, providedId, name, token.hash, token.bytes, token.keyId, now, mapping, properties],
        )
        const [there] = yield* run(byProvidedId, teamId, providedId)
        if (there !== undefined) return there
        // Neither inserted nor found: another group has the id we made, or this one was deleted in between.
        wish = make()
      }
    }, 'repeatable')
    return { group: this.#userGroup(row), created: row[0] === wish.id }
  }

  async replaceToken(current: Uint8Array, replacement: TokenReplacement, now: number): Promise<UserGroup> {
    const teamId = this.#teamId
    let fresh: SealedToken | undefined
    const row = await this.#database.write(function* () {
      const [owner] = yield* run(ownerOfToken, teamId, current)
      if (owner === undefined) {
        const [former] = yield* run(ownerOfFormer, teamId, current)
        if (former === undefined) throw new ServiceError('token_not_found')
        // Our own commit, whose answer was lost with the connection.
        if (fresh !== undefined && Buffer.compare(former[4], fresh.bytes) === 0) return former
        throw new ServiceError('token_already_rotated')
      }
      const [groupId] = owner
      fresh ??= replacement.seal({ teamId, groupId })
      const { hash, bytes, keyId } = fresh
      const [replaced] = yield* run(replaceToken, teamId, groupId, current, hash, bytes, keyId, now)
      if (replaced === undefined) throw new ServiceError('token_already_rotated')
      if (replacement.graceSeconds === 0) yield* run(endFormer, groupId, now)
      yield* run(rememberFormer, current, groupId, now, now + replacement.graceSeconds * 1000)
      return replaced
    }, 'repeatable')
    return this.#userGroup(row)
  }

  #userGroup([id, providedId, name, keyId, bytes]: UserGroupRow): UserGroup {
    return { id, teamId: this.#teamId, providedId, name, token: { keyId, bytes } }
  }
}
