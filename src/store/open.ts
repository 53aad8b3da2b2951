import type { Clock } from '../clock.ts'
import { findCaller, ApiTokenStore } from './api-tokens.ts'
import { type Database, sql } from './database.ts'
import { MasterKeyStore } from './keys.ts'
import { migrate } from './migrations/migrate.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Store, TeamStore } from './store.ts'
import { TeamsStore } from './teams.ts'
import { UserGroupStore } from './user-groups.ts'

export type DatabaseLocation = { engine: 'sqlite'; path: string } | { engine: 'postgres'; url: string }

export interface OpenOptions {
  clock: Clock
  onConnectionError?: (error: Error) => void
}

/** Opens the database, brought up to date. */
export async function openStore(location: DatabaseLocation, options: OpenOptions): Promise<Store> {
  const database =
    location.engine === 'sqlite' ? openSqlite(location.path) : await openPostgres(location.url, options)
  try {
    await migrate(database, options.clock.now())
  } catch (error) {
    await database.close()
    throw error
  }
  return storeOn(database)
}

const one = sql<[one: number]>`select 1`

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
    ping: async () => void (await database.read(one)),
    stats: () => database.stats(),
    close: () => database.close(),
  }
}
