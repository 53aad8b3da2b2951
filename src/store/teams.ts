import type { NewApiToken } from '../api-tokens/api-token.ts'
import { OperatorError } from '../operator-error.ts'
import type { Team, TeamChange } from '../teams/team.ts'
import { addApiToken } from './api-tokens.ts'
import { type Database, fragment, run, sql, type TeamDatabase, type Work } from './database.ts'
import { type Actor, fieldsOf, record } from './events.ts'
import type { FirstTeam, TeamSettings, Teams } from './store.ts'
import { everyToken } from './user-group-statements.ts'

type TeamRow = [id: number, name: string, strictMapping: number, createdAt: number]

const columns = fragment`id, name, strict_mapping, created_at`

const nextId = sql<[id: number]>`select coalesce(max(id), 0) + 1 from team`
const insert = sql<TeamRow>`
  insert into team (id, name, strict_mapping, created_at) values ($1, $2, 0, $3)
  returning ${columns}`
const all = sql<TeamRow>`select ${columns} from team order by id`
const byId = sql<TeamRow>`select ${columns} from team where id = $1`

const update = sql<TeamRow>`
  update team set name = coalesce($2, name), strict_mapping = coalesce($3, strict_mapping) where id = $1
  returning ${columns}`
const anyApiToken = sql<[id: number]>`select id from api_token where team_id = $1 limit 1`
/** Of any team: whoever has it could do everything to the first one. What leads to its group begins as none may. */
const tokenOfGroup = sql<[id: number]>`select user_group_id from ${everyToken} where hash = $1`
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
      if ((yield* run(tokenOfGroup, token.hash)).length > 0) throw alsoOfGroup()
      const [row] = yield* run(all)
      const first = row ? team(row) : yield* createTeam('First team', now)
      if (when === 'if_none' && (yield* run(anyApiToken, first.id)).length > 0) return { team: first, token: 'kept' }
      if (yield* addApiToken({ teamId: first.id, by: null }, token, now)) return { team: first, token: 'added' }
      const [known] = yield* run(revocation, token.hash)
      return { team: first, token: known?.[0] == null ? 'kept' : 'revoked' }
    })
  }
}

function alsoOfGroup(): OperatorError {
  return new OperatorError(
    'UGS_API_TOKEN is, or was, the token of a user group: whoever has that would be an admin.',
    'Set another one, or unset it and run: ugs api-token create NAME',
  )
}

/** Team ids count up from 1, as people will type them; being alone with the table makes that safe. */
function* createTeam(name: string, now: number): Work<Team> {
  const [next] = yield* run(nextId)
  return onlyTeam(yield* run(insert, next?.[0] ?? 1, name, now))
}

export class TeamSettingsStore implements TeamSettings {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  async get(): Promise<Team> {
    return onlyTeam(await this.#database.read(byId, this.#actor.teamId))
  }

  update(change: TeamChange, now: number): Promise<Team> {
    const actor = this.#actor
    const { name, strictMapping } = change
    const detail = { fields: fieldsOf(change), ...(strictMapping !== undefined && { strict_mapping: strictMapping }) }
    const strict = strictMapping === undefined ? null : Number(strictMapping)
    return this.#database.write(function* () {
      const updated = onlyTeam(yield* run(update, actor.teamId, name ?? null, strict))
      yield* record(actor, 'team.updated', String(actor.teamId), now, detail)
      return updated
    }, 'once')
  }
}

function onlyTeam([row]: TeamRow[]): Team {
  if (row === undefined) throw new Error('the team of this store does not exist')
  return team(row)
}

function team([id, name, strictMapping, createdAt]: TeamRow): Team {
  return { id, name, strictMapping: strictMapping === 1, createdAt }
}
