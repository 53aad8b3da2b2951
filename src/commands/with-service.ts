import { readConfig } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import { openService, type Service } from '../service.ts'
import type { Team } from '../teams/team.ts'

/** Opens what the settings name, runs, and closes it again. */
export async function withService<T>(use: (service: Service) => Promise<T>): Promise<T> {
  const service = await openService(readConfig(process.env))
  try {
    return await use(service)
  } finally {
    await service.store.close()
  }
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
