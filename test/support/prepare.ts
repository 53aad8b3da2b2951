import { firstTeam } from '../../src/commands/first-team.ts'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import type { Premises } from './premises.ts'
import { type Environment, testApiToken } from './service-process.ts'

/** Leaves the database as a start that ends at once does: for tests of what comes after it. */
export async function prepare({ environment }: Premises, settings: Environment = {}): Promise<void> {
  const config = readConfig({ UGS_API_TOKEN: testApiToken, ...environment, ...settings })
  const service = await openService(config, { bringsKey: true })
  const prepared = await firstTeam(service, config)
  await prepared()
  await service.store.close()
}
