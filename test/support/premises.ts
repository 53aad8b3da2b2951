import type { TestContext } from 'node:test'
import { Caller } from './caller.ts'
import type { Engine, FreshDatabase } from './engines.ts'
import { type Environment, type ServiceProcess, type Started, startService } from './service-process.ts'

export interface CalledService extends ServiceProcess {
  caller: Caller
}

/** A new database, and the processes a test starts on it one after the other or at once. */
export class Premises {
  readonly database: FreshDatabase
  readonly environment: Environment
  readonly #starts: Promise<ServiceProcess>[] = []
  readonly #callers: Caller[] = []
  #isClosed = false

  private constructor(database: FreshDatabase, settings: Environment) {
    this.database = database
    this.environment = { ...database.environment, ...settings }
  }

  /** Gone again, with all that runs there, when the test is over; a suite without one closes it itself. */
  static async open(context: TestContext | undefined, engine: Engine, settings: Environment = {}): Promise<Premises> {
    const premises = new Premises(await engine.freshDatabase(), settings)
    context?.after(() => premises.close())
    return premises
  }

  async start(settings: Environment = {}, started?: Started): Promise<CalledService> {
    if (this.#isClosed) throw new Error('the premises are closed')
    const starting = startService({ ...this.environment, ...settings }, started)
    this.#starts.push(starting)
    const service = await starting
    return { ...service, caller: this.call(service) }
  }

  async startAtOnce(count: number, settings: Environment = {}) {
    const starts = Array.from({ length: count }, () => this.start(settings))
    // All of them first, so that none is left behind when one fails.
    await Promise.allSettled(starts)
    return Promise.all(starts)
  }

  call({ url }: ServiceProcess, apiToken?: string): Caller {
    const caller = new Caller(url, apiToken)
    this.#callers.push(caller)
    return caller
  }

  /** For `await using`: nothing is left running, however the work there ends. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // One that is just starting is left running by nobody either.
    for (const start of await Promise.allSettled(this.#starts))
      if (start.status === 'fulfilled') await start.value.stop('SIGKILL')
    await Promise.all(this.#callers.map((caller) => caller.close()))
    await this.database.remove()
  }
}
