import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { openService, type Service } from '../src/service.ts'
import { assertAsDocumented } from '../test/support/document.ts'
import type { Engine } from '../test/support/engines.ts'
import { type CalledService, Premises } from '../test/support/premises.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { RawAnswer, RawRequest } from '../test/support/raw-request.ts'
import { assertRefusedInShape } from '../test/support/refused-in-shape.ts'
import { times } from '../test/support/times.ts'
import { Bystander, furnishedTeam } from './bystander.ts'
import type { Attempt } from './campaign.ts'
import { type HostileRequests, isWellFramed, type Known } from './hostile-requests.ts'
import { breakStream, hostileStream, sendStream } from './hostile-streams.ts'
import { Pipeline } from './pipeline.ts'

const shareOfStreams = 0.1
const shareOfBroken = 0.3
const lanes = 40
const atOnce = 16

/** One service under attack, and beside it a team that nobody attacks. */
export class Attack implements AsyncDisposable {
  readonly #premises: Premises
  readonly #service: CalledService
  readonly #beside: Service
  readonly #requests: HostileRequests
  readonly #random: () => number
  readonly #seen: Map<number, number>
  readonly #bystander: Bystander
  readonly #pipelines: Pipeline[]
  /** The team that streams are sent to: nobody can say what of them was granted. */
  readonly #rough: Known

  private constructor(
    premises: Premises,
    service: CalledService,
    beside: Service,
    bystander: Bystander,
    rough: Known,
    { random }: Attempt,
    requests: HostileRequests,
    seen: Map<number, number>,
  ) {
    this.#premises = premises
    this.#service = service
    this.#beside = beside
    this.#bystander = bystander
    this.#rough = rough
    this.#random = random
    this.#seen = seen
    this.#requests = requests
    this.#pipelines = times(lanes, () => new Pipeline(service.url))
  }

  static async begin(
    engine: Engine,
    attempt: Attempt,
    requests: HostileRequests,
    seen: Map<number, number>,
  ): Promise<Attack> {
    const settings = { ...attempt.environment, UGS_LOG_LEVEL: 'error', UGS_AUTH_FAILURE_LIMIT: '1000000000' }
    const premises = await Premises.open(undefined, engine, settings)
    const service = await premises.start()
    const beside = await openService(readConfig(premises.environment))
    const bystander = await Bystander.settle(service, beside, premises.environment)
    const rough = await furnishedTeam(service, beside)
    return new Attack(premises, service, beside, bystander, rough, attempt, requests, seen)
  }

  /** A new team is attacked: so that lists stay short, and every change in it was granted in this chapter. */
  async chapter(size: number): Promise<void> {
    await this.#chapter(size).catch(async (error: unknown) => {
      // A dead service gives no answers; that it died is the better message, and a moment later we know.
      await pause(100)
      this.#assertAlive()
      throw error
    })
    this.#assertAlive()
  }

  #assertAlive(): void {
    const { process, output } = this.#service
    const isAlive = process.exitCode === null && process.signalCode === null
    assert.ok(isAlive, `the service died: ${output().stderr.slice(-2_000)}`)
  }

  async #chapter(size: number): Promise<void> {
    const { teamId, ...known } = await furnishedTeam(this.#service, this.#beside)
    const before = await this.#recorded(teamId)
    const streams = Math.round(size * shareOfStreams)
    const [granted] = await Promise.all([this.#exchangeAll(size - streams, known), this.#stream(streams)])
    const recorded = (await this.#recorded(teamId)) - before
    assert.equal(recorded, granted, `${granted} changes were granted, and ${recorded} are recorded`)
  }

  /** The service still serves, has logged no error, and left alone what nobody asked it to touch. */
  async end(): Promise<void> {
    await this.#bystander.assertUntouched()
    assert.equal((await this.#service.caller.call('GET', '/readyz')).status, 200)
    assert.equal(this.#service.output().stdout, '', 'an error was logged')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pipeline of this.#pipelines) pipeline.close()
    await this.#beside.store.close()
    await this.#premises.close()
  }

  /** Returns how many of the requests were granted and changed something. */
  async #exchangeAll(count: number, known: Known): Promise<number> {
    let left = count
    const lane = async (pipeline: Pipeline): Promise<number> => {
      let changes = 0
      while (left > 0) {
        const requests = times(Math.min(atOnce, left), () => this.#wellFramed(known))
        left -= requests.length
        const answers = await pipeline.exchange(requests)
        changes += answers.filter((answer, index) =>
          this.#isChange(requests[index] as RawRequest, answer, known),
        ).length
      }
      return changes
    }
    const changes = await Promise.all(this.#pipelines.map(lane))
    return changes.reduce((sum, some) => sum + some, 0)
  }

  #wellFramed(known: Known): RawRequest {
    for (;;) {
      const request = this.#requests.next(known)
      if (isWellFramed(request)) return request
    }
  }

  #isChange({ method, path }: RawRequest, answer: RawAnswer, known: Known): boolean {
    this.#count(answer)
    if (answer.status !== 200) {
      assertRefusedInShape(answer, method)
      return false
    }
    if (!answer.headers['content-type']?.startsWith('application/json')) return false
    const body = JSON.parse(answer.text)
    assertAsDocumented(method, path, 200, body)
    if (body.user_group?.token !== undefined && body.user_group.provided_id === 'acme')
      known.token = body.user_group.token
    return body.new_user_group ?? (method !== 'GET' && !path.startsWith('/api/verify'))
  }

  async #stream(count: number): Promise<void> {
    let left = count
    const lane = async () => {
      while (left-- > 0) {
        const some = times(1 + Math.floor(this.#random() * 3), () => this.#requests.next(this.#rough))
        // An answer to HEAD looks as if a body followed: in a stream nobody could tell where the next one begins.
        const stream = hostileStream(
          some.filter(({ method }) => method !== 'HEAD'),
          this.#random,
        )
        if (this.#random() < shareOfBroken) await breakStream(this.#service.url, stream)
        else
          for (const answer of await sendStream(this.#service.url, stream)) {
            this.#count(answer)
            if (answer.status !== 200) assertRefusedInShape(answer, 'GET')
          }
      }
    }
    await Promise.all(times(lanes, lane))
  }

  #count({ status }: RawAnswer): void {
    this.#seen.set(status, (this.#seen.get(status) ?? 0) + 1)
  }

  async #recorded(teamId: number): Promise<number> {
    const [row] = await rawSql(this.#premises.environment, `select last from event_position where team_id = ${teamId}`)
    return Number(row?.last ?? 0)
  }
}
