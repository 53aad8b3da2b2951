import { Caller } from '../test/support/caller.ts'
import { newMasterKey } from '../test/support/engines.ts'
import type { CalledService } from '../test/support/premises.ts'
import { type Environment, startService } from '../test/support/service-process.ts'

/** The service on a database of the campaign's own, ended with the campaign. */
export async function serviceOn(
  cleanup: AsyncDisposableStack,
  DATABASE_URL: string,
  environment: Environment,
): Promise<CalledService> {
  const settings = { DATABASE_URL, UGS_MASTER_KEY: newMasterKey(), UGS_LOG_LEVEL: 'silent' }
  const service = await startService({ ...settings, ...environment })
  const caller = new Caller(service.url)
  cleanup.defer(async () => {
    await caller.close()
    await service.stop('SIGKILL')
  })
  return { ...service, caller }
}

/** It says that it is ready, and it writes. */
export async function isServing(caller: Caller): Promise<boolean> {
  const answers = await Promise.all([caller.call('GET', '/readyz'), caller.getOrCreate('anybody')])
  return answers.every(({ status }) => status === 200)
}
