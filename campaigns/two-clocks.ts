import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Caller } from '../test/support/caller.ts'
import type { CalledService, Premises } from '../test/support/premises.ts'
import { sqlitePath } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import { assertConsistent } from './consistency.ts'
import { JumpingClock } from './jumping-clock.ts'

const hour = 3_600
const day = 24 * hour
/** Far less than what lies between two offsets, so that it is clear who sees the end. */
const grace = hour

interface Side {
  clock: JumpingClock
  service: CalledService
  /** Has an API token that ends in three hours. */
  passing: Caller
  /** The groups it made since its start, in that order. */
  made: string[]
}

/** Two processes on one database, each with a clock of its own; every check is about both. */
export class TwoClocks {
  readonly #premises: Premises
  readonly #apiToken: string
  readonly #runs: string[][] = []
  #sides: Side[] = []
  #groups = 0
  #token = ''
  #gracedToken = ''
  #graced: { token: string; offset: number }[] = []

  private constructor(premises: Premises, apiToken: string) {
    this.#premises = premises
    this.#apiToken = apiToken
  }

  static async start(premises: Premises, environment: Environment): Promise<TwoClocks> {
    const first = new JumpingClock('Node', environment)
    const service = await premises.start(first.environment)
    const expires_at = new Date(Date.now() + 3 * hour * 1_000).toISOString()
    const made = await service.caller.call('POST', '/api/api_tokens', {
      json: { name: 'passing', scopes: ['verify'], expires_at },
    })
    const clocks = new TwoClocks(premises, made.body.api_token.token)
    const second = new JumpingClock('system', environment)
    clocks.#sides = [clocks.#side(first, service), clocks.#side(second, await premises.start(second.environment))]
    clocks.#token = tokenIn(await service.caller.getOrCreate('rotated'))
    clocks.#gracedToken = tokenIn(await service.caller.getOrCreate('rotated with grace'))
    return clocks
  }

  /** One clock jumps while both make a group; then all that ends must end by the clock of who is asked. */
  async jump(offset: number): Promise<void> {
    const { jumping, other } = this.#turn()
    const underWay = [this.#create(jumping), this.#create(other)]
    jumping.clock.set(offset)
    await Promise.all(underWay)
    await this.#rotate(jumping)
    await this.#rotateWithGrace(jumping)
    await Promise.all(this.#sides.map((side) => this.#assertEnds(side)))
  }

  /** Pages that are asked for before and after a jump are still pages of one list. */
  async jumpDuringList(offset: number): Promise<void> {
    const { jumping, other } = this.#turn()
    const there = times(this.#groups, groupId)
    const limit = Math.max(5, Math.min(200, Math.ceil(this.#groups / 3)))
    const listed: string[] = []
    let cursor = await listPage(other.service.caller, limit, '', listed)
    jumping.clock.set(offset)
    await this.#create(jumping)
    while (cursor !== null) cursor = await listPage(jumping.service.caller, limit, `&cursor=${cursor}`, listed)
    const places = new Map(listed.map((id, place) => [id, place]))
    assert.equal(places.size, listed.length, 'a group is listed twice')
    for (const id of there) assert.ok(places.has(id), `${id} is missing from the list`)
    for (const run of this.#runs)
      for (const [at, id] of run.entries()) {
        const earlier = run[at - 1] ?? id
        const isInOrder = (places.get(id) ?? listed.length) >= (places.get(earlier) ?? 0)
        assert.ok(isInOrder, `${id} was made after ${earlier} by the same process, and is listed before it`)
      }
  }

  /** A write that waits for another's waits on, though its clock says that it has waited for days. */
  async jumpDuringLock(): Promise<void> {
    const { jumping } = this.#turn()
    jumping.clock.set(-day)
    const lock = new DatabaseSync(sqlitePath(this.#premises.environment), { timeout: 5_000 })
    lock.exec('begin immediate')
    const jumpAndLetGo = async () => {
      await pause(40)
      jumping.clock.set(day)
      await pause(40)
      lock.close()
    }
    await Promise.all([this.#create(jumping), jumpAndLetGo()])
  }

  /** A process that starts with a clock behind the one it was killed with. */
  async restartOne(): Promise<void> {
    const { jumping, other } = this.#turn()
    await jumping.service.stop('SIGKILL')
    jumping.clock.set(-day)
    this.#sides = [other, this.#side(jumping.clock, await this.#premises.start(jumping.clock.environment))]
  }

  /** Nothing is lost or numbered wrongly. Returns how many groups were made. */
  async end(): Promise<number> {
    const groups = await assertConsistent(this.#premises.environment)
    for (const id of times(this.#groups, groupId)) assert.ok(groups.has(id), `${id} is lost`)
    return this.#groups
  }

  #side(clock: JumpingClock, service: CalledService): Side {
    const made: string[] = []
    this.#runs.push(made)
    return { clock, service, made, passing: this.#premises.call(service, this.#apiToken) }
  }

  #turn(): { jumping: Side; other: Side } {
    this.#sides.reverse()
    const [jumping, other] = this.#sides
    assert.ok(jumping && other)
    return { jumping, other }
  }

  async #create({ service, made }: Side): Promise<void> {
    const id = groupId(this.#groups)
    this.#groups += 1
    made.push(id)
    const { status, body } = await service.caller.getOrCreate(id)
    assert.ok(body.new_user_group, `${id} could not be made during a jump: ${status} ${JSON.stringify(body)}`)
  }

  async #rotate({ service, clock }: Side): Promise<void> {
    const old = this.#token
    this.#token = tokenIn(await service.caller.rotate(old))
    for (const side of this.#sides) {
      const apart = `${(side.clock.offset - clock.offset) / hour} hours from the clock of its rotation`
      const { body } = await side.service.caller.verify(old)
      assert.equal(body.reason, 'rotated', `a token was rotated, and still verifies, ${apart}`)
      assert.equal(
        (await side.service.caller.verify(this.#token)).body.active,
        true,
        `a token does not verify, ${apart}`,
      )
    }
  }

  async #rotateWithGrace({ service, clock }: Side): Promise<void> {
    this.#graced = [{ token: this.#gracedToken, offset: clock.offset }, ...this.#graced.slice(0, 3)]
    this.#gracedToken = tokenIn(await service.caller.rotate(this.#gracedToken, { grace_seconds: grace }))
  }

  async #assertEnds({ service, passing, clock }: Side): Promise<void> {
    for (const { token, offset } of this.#graced) {
      const apart = `${(clock.offset - offset) / hour} hours from the clock of its rotation`
      const { body } = await service.caller.verify(token)
      assert.equal(
        body.active,
        clock.offset <= offset,
        `a token with an hour of grace, ${apart}: ${JSON.stringify(body)}`,
      )
    }
    const { status } = await passing.verify(this.#token)
    assert.equal(
      status,
      clock.offset <= 0 ? 200 : 401,
      `an API token that ends in 3 hours, at +${clock.offset / hour} hours`,
    )
  }
}

const groupId = (index: number) => `group ${index}`

function tokenIn({ status, body }: Answer): string {
  assert.equal(status, 200, JSON.stringify(body))
  return body.user_group.token
}

async function listPage(caller: Caller, limit: number, cursor: string, into: string[]): Promise<string | null> {
  const { status, body } = await caller.call('GET', `/api/user_groups?limit=${limit}${cursor}`)
  assert.equal(status, 200, JSON.stringify(body))
  for (const { provided_id } of body.user_groups) into.push(provided_id)
  return body.next_cursor
}
