import { type ApiToken, type Caller, isUsable, type NewApiToken, type Scope } from '../api-tokens/api-token.ts'
import { ServiceError } from '../errors.ts'
import { after, type Soon } from '../soon.ts'
import { type Database, fragment, run, shared, sql, type TeamDatabase, type Work } from './database.ts'
import { type Actor, record, takeTurn } from './events.ts'
import { page } from './page.ts'
import type { ApiTokens, Page, PageQuery } from './store.ts'

type ApiTokenRow = [
  id: number,
  name: string,
  scopes: string,
  createdAt: number,
  expiresAt: number | null,
  revokedAt: number | null,
  lastUsedAt: number | null,
]

const columns = fragment`id, name, scopes, created_at, expires_at, revoked_at, last_used_at`

const callerByHash = shared<[teamId: number, ...ApiTokenRow]>('bytea')`
  select team_id, ${columns} from api_token where hash = $1`

const insertUnlessThere = sql<[id: number]>`
  insert into api_token (id, team_id, hash, name, scopes, created_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
  on conflict (hash) do nothing
  returning id`

const ofTeam = sql<ApiTokenRow>`select ${columns} from api_token where team_id = $1 order by id`

const listAfter = sql<ApiTokenRow>`
  select ${columns} from api_token
  where team_id = $1 and id > $2 and revoked_at is null order by id limit $3`

const revoke = sql<ApiTokenRow>`
  update api_token set revoked_at = $3 where team_id = $1 and id = $2 and revoked_at is null
  returning ${columns}`

const noteUse = sql`
  update api_token set last_used_at = $2 where id = $1 and (last_used_at is null or last_used_at < $2)`

export function findCaller(database: Database, hash: Uint8Array): Soon<Caller | undefined> {
  return after(database.readSoon(callerByHash, hash), ([row]) => {
    if (row === undefined) return undefined
    const [teamId, ...token] = row
    return { ...apiToken(token), teamId }
  })
}

/** False when the hash is known already. */
export function* addApiToken(actor: Actor, token: NewApiToken, now: number): Work<boolean> {
  const { id, hash, name, scopes, expiresAt } = token
  const added = yield* run(insertUnlessThere, id, actor.teamId, hash, name, scopes.join(' '), now, expiresAt)
  if (added.length === 0) return false
  yield* record(actor, 'api_token.created', String(id), now, { name, scopes: [...scopes] })
  return true
}

export class ApiTokenStore implements ApiTokens {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  add(token: NewApiToken, now: number): Promise<boolean> {
    return this.#database.write(() => addApiToken(this.#actor, token, now), 'once')
  }

  async list({ after, limit }: PageQuery<number>): Promise<Page<ApiToken>> {
    const rows = await this.#database.read(listAfter, this.#actor.teamId, after, limit + 1)
    return page(rows.map(apiToken), limit, ({ id }) => id)
  }

  async all(): Promise<ApiToken[]> {
    return (await this.#database.read(ofTeam, this.#actor.teamId)).map(apiToken)
  }

  revoke(id: number, now: number, lastAdmin: 'keep' | 'may_go'): Promise<ApiToken | undefined> {
    const actor = this.#actor
    return this.#database.write(function* () {
      // Of two who revoke at once the second sees what the first has done.
      yield* takeTurn(actor.teamId)
      const [row] = yield* run(revoke, actor.teamId, id, now)
      if (row === undefined) return undefined
      const revoked = apiToken(row)
      const { name, scopes } = revoked
      const left = (yield* run(ofTeam, actor.teamId)).map(apiToken)
      const isAdmin = (token: ApiToken) => isUsable(token, now) && token.scopes.includes('admin')
      if (lastAdmin === 'keep' && scopes.includes('admin') && !left.some(isAdmin))
        throw new ServiceError('conflict', {
          message: 'This is the last API token of the team with the scope "admin"; create another one first.',
        })
      yield* record(actor, 'api_token.revoked', String(id), now, { name, scopes: [...scopes] })
      return revoked
    }, 'once')
  }
}

export async function noteApiTokenUse(database: Database, id: number, now: number): Promise<void> {
  await database.write(() => run(noteUse, id, now), 'repeatable')
}

function apiToken([id, name, scopes, createdAt, expiresAt, revokedAt, lastUsedAt]: ApiTokenRow): ApiToken {
  return { id, name, scopes: scopes.split(' ') as Scope[], createdAt, expiresAt, revokedAt, lastUsedAt }
}
