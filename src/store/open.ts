import type { Clock } from '../clock.ts'
import { ApiTokenStore, findCaller } from './api-tokens.ts'
import type { Database } from './database.ts'
import { MasterKeyStore } from './keys.ts'
import { migrate, refuseOutdated } from './migrations/migrate.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Store, TeamStore } from './store.ts'
import { TeamsStore } from './teams.ts'
import { UserGroupStore } from './user-groups.ts'

export type DatabaseLocation = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

export interface OpenOptions {
  clock: Clock
  /** False for a look that changes nothing: an outdated database is refused. */
  upgrade?: boolean
  onConnectionError?: (error: Error) => void
}

/** Opens the database, by default brought up to date. */
export async function openStore(location: DatabaseLocation, options: OpenOptions): Promise<Store> {
  const database = location.engine === 'sqlite' ? openSqlite(location.path) : await openPostgres(location.url, options)
  try {
    await (options.upgrade === false ? refuseOutdated(database) : migrate(database, options.clock.now()))
  } catch (error) {
    await database.close()
    throw error
  }
  return storeOn(database)
}

function storeOn(database: Database): Store {
  return {
    engine: database.engine,
    teams: new TeamsStore(database),
    keys: new MasterKeyStore(database),
    findCaller: (hash) => findCaller(database, hash),
    forTeam: (teamId): TeamStore => ({
      userGroups: new UserGroupStore(database, teamId),
      apiTokens: new ApiTokenStore(database, teamId),
    }),
    stats: () => database.stats(),
    close: () => database.close(),
  }
}
