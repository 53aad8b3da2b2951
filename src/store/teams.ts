import type { NewApiToken } from '../api-tokens/api-token.ts'
import type { Team } from '../teams/team.ts'
import { addApiToken } from './api-tokens.ts'
import { type Database, run, sql, type Work } from './database.ts'
import type { FirstTeam, Teams } from './store.ts'

type TeamRow = [id: number, name: string, createdAt: number]

const nextId = sql<[id: number]>`select coalesce(max(id), 0) + 1 from team`
const insert = sql<TeamRow>`insert into team (id, name, created_at) values ($1, $2, $3) returning id, name, created_at`
const all = sql<TeamRow>`select id, name, created_at from team order by id`
const byId = sql<TeamRow>`select id, name, created_at from team where id = $1`

const anyApiToken = sql<[id: number]>`select id from api_token where team_id = $1 limit 1`
const revocation = sql<[revokedAt: number | null]>`select revoked_at from api_token where hash = $1`

export class TeamsStore implements Teams {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  create(name: string, now: number): Promise<Team> {
    return this.#database.exclusively(() => createTeam(name, now))
  }

  async list(): Promise<Team[]> {
    return (await this.#database.read(all)).map(team)
  }

  async find(id: number): Promise<Team | undefined> {
    const [row] = await this.#database.read(byId, id)
    return row && team(row)
  }

  prepareFirst(token: NewApiToken, when: 'always' | 'if_none', now: number): Promise<FirstTeam> {
    return this.#database.exclusively(function* (): Work<FirstTeam> {
      const [row] = yield* run(all)
      const first = row ? team(row) : yield* createTeam('First team', now)
      if (when === 'if_none' && (yield* run(anyApiToken, first.id)).length > 0) return { team: first, token: 'kept' }
      if (yield* addApiToken(first.id, token, now)) return { team: first, token: 'added' }
      const [known] = yield* run(revocation, token.hash)
      return { team: first, token: known?.[0] == null ? 'kept' : 'revoked' }
    })
  }
}

/** Team ids count up from 1, as people will type them; being alone with the table makes that safe. */
function* createTeam(name: string, now: number): Work<Team> {
  const [next] = yield* run(nextId)
  const [row] = yield* run(insert, next?.[0] ?? 1, name, now)
  if (row === undefined) throw new Error('the new team was not returned')
  return team(row)
}

function team([id, name, createdAt]: TeamRow): Team {
  return { id, name, createdAt }
}
