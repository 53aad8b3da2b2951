import type { Team } from '../teams/team.ts'
import { type Database, run, sql, type Work } from './database.ts'
import type { Teams } from './store.ts'

type TeamRow = [id: number, name: string, createdAt: number]

const nextId = sql<[id: number]>`select coalesce(max(id), 0) + 1 from team`
const insert = sql<TeamRow>`insert into team (id, name, created_at) values ($1, $2, $3) returning id, name, created_at`
const all = sql<TeamRow>`select id, name, created_at from team order by id`
const byId = sql<TeamRow>`select id, name, created_at from team where id = $1`

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

  first(now: number): Promise<Team> {
    return this.#database.exclusively(function* () {
      const [row] = yield* run(all)
      return row ? team(row) : yield* createTeam('First team', now)
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
