import assert from 'node:assert/strict'
import type { Answer, Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import type { CalledService, Premises } from '../test/support/premises.ts'
import type { Environment } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import { JumpingClock } from './jumping-clock.ts'

const day = 86_400
const requestsPerSecond = 10
const failuresPerMinute = 5

/** A process whose limits are soon reached, to see that nobody is shut out for longer than they say. */
export class LimitedService {
  readonly #clock: JumpingClock
  readonly #caller: Caller
  readonly #stranger: Caller

  private constructor(clock: JumpingClock, service: CalledService, stranger: Caller) {
    this.#clock = clock
    this.#caller = service.caller
    this.#stranger = stranger
  }

  static async start(premises: Premises, environment: Environment): Promise<LimitedService> {
    const clock = new JumpingClock('Node', environment)
    const service = await premises.start({
      ...clock.environment,
      UGS_RATE_LIMIT: String(requestsPerSecond),
      UGS_AUTH_FAILURE_LIMIT: String(failuresPerMinute),
    })
    return new LimitedService(clock, service, premises.call(service, 'not-the-token-of-anybody'))
  }

  /** Reaches both limits, lets the clock jump back or forth, and expects to be let in as if it had not. */
  async jump(): Promise<void> {
    const ask = () => this.#caller.call('GET', '/api/team')
    const guess = () => this.#stranger.call('GET', '/api/team')
    const refused = [...(await untilRefused(ask)), ...(await untilRefused(guess))]
    const by = this.#clock.offset === 0 ? -day : day
    this.#clock.set(this.#clock.offset + by)

    const refusal = await guess()
    assert.equal(
      refusal.status,
      401,
      `a stranger is locked out after a jump of ${by} s: ${JSON.stringify(refusal.headers)}`,
    )
    for (const { headers } of refused)
      assert.ok(Number(headers['retry-after']) <= 60, `a caller is told to wait for ${headers['retry-after']} s`)
    await eventually(`a caller is let in after a jump of ${by} s`, async () => (await ask()).status === 200, 3_000)
  }
}

/** Asks so often at once that a limit is passed; a slow machine may need more than one go. */
function untilRefused(ask: () => Promise<Answer>): Promise<Answer[]> {
  return eventually('the limit is reached', async () => {
    const answers = await Promise.all(times(3 * requestsPerSecond, ask))
    const refused = answers.filter(({ status }) => status === 429)
    return refused.length > 0 && refused
  })
}
