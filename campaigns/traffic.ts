import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import { times } from '../test/support/times.ts'
import { assertKept, create, looksAt, newThing, note, prepareForThings, type Thing } from './things.ts'

const clients = 8
const patience = 20_000

/** Calls that concern no thing in particular: those that look, and those that change something. */
const glances = ['user_groups?limit=5', 'schemas', 'data_sources', 'api_tokens', 'team', 'events?limit=5']
const chores: readonly ((caller: Caller) => Promise<Answer>)[] = [
  (caller) => caller.call('PATCH', '/api/team', { json: { name: 'First team' } }),
  async (caller) => {
    const made = await caller.call('POST', '/api/api_tokens', { json: { name: 'brief', scopes: ['verify'] } })
    return made.status === 200 ? caller.call('DELETE', `/api/api_tokens/${made.body.api_token.id}`) : made
  },
]

/**
 * Clients that use the whole interface, each on things of its own, so that it knows what every answer must be: the
 * right one, or 503 `unavailable`, which leaves open whether a change was made.
 */
export class Traffic {
  readonly things: Thing[] = []
  answered = 0
  readonly refused = { looks: 0, changes: 0 }
  readonly #caller: Caller
  readonly #random: () => number
  #ending = false
  #isBroken = false

  private constructor(caller: Caller, random: () => number) {
    this.#caller = caller
    this.#random = random
  }

  static async prepare(caller: Caller, random: () => number): Promise<Traffic> {
    await prepareForThings(caller)
    return new Traffic(caller, random)
  }

  /** Runs while something happens to the service, and looks at what was touched when that is over. */
  async around(happening: () => Promise<void>): Promise<void> {
    const earlier = this.things.length
    this.#ending = false
    const happened = happening().finally(() => {
      this.#ending = true
    })
    const worked = Promise.all(times(clients, () => this.#work()))
    worked.catch(() => {
      this.#isBroken = true
    })
    await Promise.allSettled([happened, worked])
    await Promise.all([worked, happened])
    await this.assertKept(earlier)
  }

  /** Waits for so many more right answers. */
  answers(count: number): Promise<boolean> {
    const before = this.answered
    return this.until('traffic flows', () => this.answered >= before + count)
  }

  /** Waits, though not for a service that has broken its promise already. */
  until(what: string, look: () => boolean | Promise<boolean>, patience?: number): Promise<boolean> {
    return eventually(what, () => (this.#isBroken ? assert.fail(`no more traffic until ${what}`) : look()), patience)
  }

  async assertKept(from = 0): Promise<void> {
    await Promise.all(this.things.slice(from).map((thing) => assertKept(this.#caller, thing)))
  }

  async #work(): Promise<void> {
    const own: Thing[] = []
    while (!this.#ending) {
      const settled = own.filter(({ known, possible }) => known.exists && possible === undefined)
      const dice = this.#random()
      if (dice < 0.15) await this.#ask('looks', this.#caller.call('GET', `/api/${this.#oneOf(glances)}`))
      else if (dice < 0.2) await this.#ask('changes', this.#oneOf(chores)(this.#caller))
      else if (dice < 0.4 || settled.length === 0) own.push(await this.#make())
      else if (dice < 0.7) await this.#look(this.#oneOf(settled))
      else await this.#change(this.#oneOf(settled))
    }
  }

  async #make(): Promise<Thing> {
    const thing = newThing(this.things.length)
    this.things.push(thing)
    await this.#change(thing, create)
    return thing
  }

  async #look(thing: Thing): Promise<void> {
    const look = this.#oneOf(looksAt(thing))
    const body = await this.#ask('looks', look.ask(this.#caller, thing))
    if (body) look.assertRight(thing, body)
  }

  async #change(thing: Thing, change = this.#oneOf(thing.kind.changes)): Promise<void> {
    const wish = { ...thing.known, ...change.wish(thing.known) }
    thing.possible = wish
    thing.changes.asked += 1
    const body = await this.#ask('changes', change.ask(this.#caller, thing, wish))
    if (body) note(thing, wish, body)
  }

  /** The body, unless the answer was that there is none at the moment. */
  async #ask(kind: 'looks' | 'changes', call: Promise<Answer>): Promise<Answer['body'] | undefined> {
    const answer = await Promise.race([call, pause(patience, undefined, { ref: false })])
    assert.ok(answer, `a request has had no answer for ${patience / 1000} s`)
    if (answer.status === 200) {
      this.answered += 1
      return answer.body
    }
    assertUnavailable(answer)
    this.refused[kind] += 1
    await pause(100)
    return undefined
  }

  #oneOf<T>(choice: readonly T[]): T {
    return choice[Math.floor(this.#random() * choice.length)] as T
  }
}

/** The one way to say that the database is away. Its shape was held against openapi.json before. */
export function assertUnavailable({ status, headers, body }: Answer): void {
  const said = `${status} ${JSON.stringify(body)}`
  assert.ok(status === 503 && body.error.code === 'unavailable', `neither the right answer nor 503: ${said}`)
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/, `a 503 without Retry-After: ${said}`)
}
