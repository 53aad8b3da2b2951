import type { Caller } from '../test/support/caller.ts'
import { times } from '../test/support/times.ts'
import type { Call } from './group-model.ts'
import { RecordedGroup } from './recorded-group.ts'

const clients = 30
const groupsAtOnce = 10
const callsInALife = 40
/** So many groups are born into a calm time, in which a process has something to remember, and as many into a busy one. */
const groupsInASpell = 10
const inCalm = { verifications: 0.7, callsToTheFirst: 0.97 }
/** Of all calls: they look, verify and rotate. The others change or delete the group itself. */
const callsForTokens = 0.8

interface Scene {
  /** How many groups live and end. */
  groups: number
  random: () => number
  /** One for each process that is up just now. */
  callers(): readonly Caller[]
  /** Told of each group when it has come to rest; false ends it all. */
  onEnd(group: RecordedGroup): boolean
}

/**
 * Clients that do anything to a few groups, each call to any process; a group that has had its share makes way for a new
 * one. In a calm time they mostly verify, change nothing but tokens, and nearly all ask the same process.
 */
export class Crowd {
  readonly #scene: Scene
  readonly #living = new Map<RecordedGroup, { callsLeft: number }>()
  #born = 0
  #isOver = false

  constructor(scene: Scene) {
    this.#scene = scene
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async run(): Promise<void> {
    try {
      await Promise.all(times(clients, () => this.#beClient()))
    } finally {
      this.#isOver = true
    }
  }

  async #beClient(): Promise<void> {
    for (let group = this.#choose(); group !== undefined && !this.#isOver; group = this.#choose()) {
      await group.perform(this.#think(group), this.#chooseCaller())
      if (!this.#living.has(group) && group.underWay === 0) await this.#layToRest(group)
    }
  }

  #choose(): RecordedGroup | undefined {
    while (this.#living.size < groupsAtOnce && this.#born < this.#scene.groups)
      this.#living.set(new RecordedGroup(`group-${++this.#born}`), { callsLeft: callsInALife })
    if (this.#living.size === 0) return undefined
    const [group, life] = this.#pick([...this.#living])
    life.callsLeft -= 1
    if (life.callsLeft === 0) this.#living.delete(group)
    return group
  }

  get #isCalm(): boolean {
    return Math.ceil(this.#born / groupsInASpell) % 2 === 1
  }

  #chooseCaller(): Caller {
    const callers = this.#scene.callers()
    const [first] = callers
    return first && this.#isCalm && this.#scene.random() < inCalm.callsToTheFirst ? first : this.#pick(callers)
  }

  #think({ tokens }: RecordedGroup): Call {
    const { random } = this.#scene
    const verifies = this.#isCalm && random() < inCalm.verifications
    const dice = random() * (this.#isCalm ? callsForTokens : 1)
    if (tokens.length === 0 || (dice < 0.15 && !verifies)) return { does: 'get' }
    if (dice < callsForTokens) {
      const token = tokens.at(random() < 0.6 ? -1 : Math.floor(random() * tokens.length)) ?? ''
      return { does: dice < 0.45 && !verifies ? 'rotate' : 'verify', token }
    }
    if (dice < 0.98) return { does: dice < 0.89 ? 'disable' : 'enable' }
    return { does: 'delete' }
  }

  /** Every process is asked once more, when nobody changes anything. */
  async #layToRest(group: RecordedGroup): Promise<void> {
    await Promise.all(this.#scene.callers().map((caller) => group.perform({ does: 'get' }, caller)))
    if (!this.#scene.onEnd(group)) this.#isOver = true
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#scene.random() * list.length)] as T
  }
}
