import { readConfig } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import { openService, type Service } from '../service.ts'
import type { DatabaseLocation } from '../store/open.ts'
import { isThere } from '../store/sqlite-presence.ts'
import type { Team } from '../teams/team.ts'

/**
 * Opens what the settings name, runs, and closes it again. Only a start makes a database, migrates one, which cannot be
 * undone, or brings a master key in, which every process must have from then on: a command may have the wrong settings, or
 * be of a version that is only being tried.
 */
export async function withService<T>(use: (service: Service) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  refuseMissing(config.database)
  const service = await openService(config, { upgrade: false })
  try {
    return await use(service)
  } finally {
    await service.store.close()
  }
}

export function refuseMissing(database: DatabaseLocation): void {
  if (database.engine === 'sqlite' && !isThere(database.path))
    throw new OperatorError(
      `There is no database at ${database.path}.`,
      'Check DATABASE_URL; a new database is made when the service starts.',
    )
}

export async function teamNamed(service: Service, id: number): Promise<Team> {
  const team = await service.store.teams.find(id)
  if (team === undefined)
    throw new OperatorError(
      `There is no team ${id}.`,
      'List the teams with: ugs team list; a new database gets its first one when the service starts.',
    )
  return team
}
