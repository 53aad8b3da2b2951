import type { Clock } from '../clock.ts'
import { ApiTokenStore, findCaller, noteApiTokenUse } from './api-tokens.ts'
import { DataSourceStore } from './data-sources.ts'
import type { Database, OnGroupChanged, TeamDatabase } from './database.ts'
import { EventStore } from './event-list.ts'
import type { Actor } from './events.ts'
import { Gated } from './gated.ts'
import { MasterKeyStore } from './keys.ts'
import { leadsFrom, migrate, refuseOutdated } from './migrations/migrate.ts'
import { pruneHistory } from './prune-history.ts'
import { SchemaStore } from './schemas.ts'
import { openSqlite } from './sqlite.ts'
import type { Check } from './sqlite-fitness.ts'
import type { Store, TeamStore } from './store.ts'
import { TeamSettingsStore, TeamsStore } from './teams.ts'
import { UserGroupStore } from './user-groups.ts'

export type DatabaseLocation = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

export interface OpenOptions {
  clock: Clock
  /** False for a look that changes nothing: an outdated database is refused. */
  upgrade?: boolean
  /** Of a file; PostgreSQL looks after its own, and is only asked whether it takes writes. */
  check?: Check
  onConnectionError?: (error: Error) => void
  onGroupChanged?: OnGroupChanged
}

/** Opens the database, by default brought up to date. */
export async function openStore(location: DatabaseLocation, options: OpenOptions): Promise<Store> {
  const database = await openDatabase(location, options)
  try {
    await (options.upgrade === false ? refuseOutdated(database) : migrate(database, options.clock.now()))
  } catch (error) {
    await database.close()
    throw error
  }
  return storeOn(database)
}

async function openDatabase(location: DatabaseLocation, options: OpenOptions): Promise<Database> {
  if (location.engine === 'sqlite') return openSqlite(location.path, options.check, options.onGroupChanged)
  // Loaded only here: on SQLite a start and every command do without the driver.
  const { openPostgres } = await import('./postgres.ts')
  return openPostgres(location.url, options)
}

function storeOn(database: Database): Store {
  return {
    teams: new TeamsStore(database),
    keys: new MasterKeyStore(database),
    findCaller: (hash) => findCaller(database, hash),
    noteUse: (apiTokenId, now) => noteApiTokenUse(database, apiTokenId, now),
    forTeam: (teamId, by, admission) =>
      new SqlTeamStore(admission ? new Gated(database, admission) : database, { teamId, by }),
    pruneHistory: (before, batch) => pruneHistory(database, before, batch),
    leadsFrom: () => leadsFrom(database),
    version: () => database.version(),
    stats: () => database.stats(),
    close: () => database.close(),
  }
}

class SqlTeamStore implements TeamStore {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  get userGroups() {
    return new UserGroupStore(this.#database, this.#actor)
  }

  get schemas() {
    return new SchemaStore(this.#database, this.#actor)
  }

  get dataSources() {
    return new DataSourceStore(this.#database, this.#actor)
  }

  get apiTokens() {
    return new ApiTokenStore(this.#database, this.#actor)
  }

  get events() {
    return new EventStore(this.#database, this.#actor.teamId)
  }

  get settings() {
    return new TeamSettingsStore(this.#database, this.#actor)
  }
}
