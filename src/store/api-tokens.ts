import type { ApiToken, Caller, NewApiToken, Scope } from '../api-tokens/api-token.ts'
import { type Database, run, sql, type Work } from './database.ts'
import type { ApiTokens } from './store.ts'

type ApiTokenRow = [
  id: number,
  name: string,
  scopes: string,
  createdAt: number,
  expiresAt: number | null,
  revokedAt: number | null,
  lastUsedAt: number | null,
]

const callerByHash = sql<[...ApiTokenRow, teamId: number]>`
  select id, name, scopes, created_at, expires_at, revoked_at, last_used_at, team_id from api_token where hash = $1`

const insertUnlessThere = sql<[id: number]>`
  insert into api_token (id, team_id, hash, name, scopes, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (hash) do nothing
  returning id`

const ofTeam = sql<ApiTokenRow>`
  select id, name, scopes, created_at, expires_at, revoked_at, last_used_at from api_token
  where team_id = $1 order by id`

const revoke = sql<ApiTokenRow>`
  update api_token set revoked_at = coalesce(revoked_at, $3) where team_id = $1 and id = $2
  returning id, name, scopes, created_at, expires_at, revoked_at, last_used_at`

export async function findCaller(database: Database, hash: Uint8Array): Promise<Caller | undefined> {
  const [row] = await database.read(callerByHash, hash)
  if (row === undefined) return undefined
  const [id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt, teamId] = row
  return { ...apiToken([id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt]), teamId }
}

/** False when the hash is known already. */
export function* addApiToken(teamId: number, token: NewApiToken, now: number): Work<boolean> {
  const { id, hash, name, scopes, expiresAt } = token
  const added = yield* run(insertUnlessThere, id, teamId, hash, name, scopes.join(' '), now, expiresAt)
  return added.length > 0
}

export class ApiTokenStore implements ApiTokens {
  readonly #database: Database
  readonly #teamId: number

  constructor(database: Database, teamId: number) {
    this.#database = database
    this.#teamId = teamId
  }

  add(token: NewApiToken, now: number): Promise<boolean> {
    return this.#database.write(() => addApiToken(this.#teamId, token, now), 'once')
  }

  async list(): Promise<ApiToken[]> {
    return (await this.#database.read(ofTeam, this.#teamId)).map(apiToken)
  }

  revoke(id: number, now: number): Promise<ApiToken | undefined> {
    const teamId = this.#teamId
    return this.#database.write(function* () {
      const [row] = yield* run(revoke, teamId, id, now)
      return row && apiToken(row)
    }, 'repeatable')
  }
}

function apiToken([id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt]: ApiTokenRow): ApiToken {
  return { id, name, scopes: scopes.split(' ') as Scope[], createdAt, expiresAt, revokedAt, lastUsedAt }
}
