import { after, type TestContext } from 'node:test'
import { Caller } from './caller.ts'
import type { Engine, FreshDatabase } from './engines.ts'
import { type Environment, type ServiceProcess, startService } from './service-process.ts'

export interface Running {
  service: ServiceProcess
  caller: Caller
  database: FreshDatabase
  /** The settings it runs with, for a command or a second process beside it. */
  environment: Environment
}

/** A service on a new database, gone again when the test, or without one the suite, is over. */
export async function running(
  context: TestContext | undefined,
  engine: Engine,
  settings: Environment = {},
): Promise<Running> {
  const database = await engine.freshDatabase()
  const environment = { ...database.environment, ...settings }
  const service = await startService(environment)
  const caller = new Caller(service.url)
  const end = async () => {
    await caller.close()
    await service.stop('SIGKILL')
    await database.remove()
  }
  if (context) context.after(end)
  else after(end)
  return { service, caller, database, environment }
}
