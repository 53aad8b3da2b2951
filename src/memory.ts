import { quickHash } from './quick-hash.ts'
import { Recent } from './recent.ts'
import { after, type Soon } from './soon.ts'
import type { Version } from './store/database.ts'

type Kind = 'caller' | 'user_group' | 'token'

/** What an answer takes, in characters, and which user group it is about, where it is about one. */
interface Facts {
  size: number
  group?: string
}

interface Remembered {
  kind: Kind
  teamId: number
  name: string
  value: unknown
  size: number
  place: number | undefined
  /** How many user groups had been forgotten when it was asked for. */
  forgotten: number
}

/** In characters: some 24,000 answers of ordinary size. */
const roomOfOneAge = 9 * 1024 * 1024
/** What an entry takes beside its name and the answer. */
const sizeOfEntry = 200
const ofNoGroup = () => ({ size: 0 })
/** A power of two. */
const places = 16 * 1024

/**
 * Keeps answers for exactly as long as the database says that nothing has changed, by whomever, since they were read: an
 * answer is never stale. Where the database cannot say so at once, it is asked along with all that is not remembered,
 * and what is remembered waits for that. Of rotations by this process it may say nothing: then their user groups are to
 * be forgotten.
 */
export class Memory {
  readonly #version: () => Soon<Version | undefined>
  readonly #answers = new Recent<Remembered>(roomOfOneAge, ({ size }) => size)
  #forgotten = 0
  /** The number of the last user group forgotten in each place: a group has one place, and shares it with others. */
  readonly #lastForgotten = new Float64Array(places)
  #asOf: Version | undefined
  #isDue = false
  #learning: Promise<Version | undefined> | undefined

  constructor(version: () => Soon<Version | undefined>) {
    this.#version = version
  }

  /** To be called after a request has arrived, for it and all before it: what is remembered may have changed. */
  refresh(): void {
    this.#isDue = true
  }

  /** Neither what is remembered of a user group nor what is being read of it holds any more. */
  forget(teamId: number, group: string): void {
    this.#forgotten += 1
    this.#lastForgotten[placeOf(teamId, group)] = this.#forgotten
  }

  /** What `read` gave for the name, or gives now. What is not there (undefined) is not kept. */
  recall<T extends object | string>(
    kind: Kind,
    teamId: number,
    name: string,
    read: () => Soon<T | undefined>,
    factsOf: (value: T) => Facts = ofNoGroup,
  ): Soon<T | undefined> {
    if (this.#isDue) this.#ask()
    const asOf = this.#asOf
    const forgotten = this.#forgotten
    if (asOf === undefined) return read()
    const key = quickHash(name, teamId ^ (kind.charCodeAt(0) << 24))
    const known = this.#answers.get(key)
    // A name may be a secret: it is compared only with one of the same number, which nobody can aim at.
    const isKnown = known !== undefined && known.name === name && known.teamId === teamId && known.kind === kind
    if (isKnown && !this.#isForgotten(known))
      return this.#learning === undefined
        ? (known.value as T)
        : this.#learning.then((version) => (version === asOf ? (known.value as T) : read()))
    return after(read(), (value) => {
      // Another request may have found a change while we waited: then this was read too early to be kept. A change that
      // nobody has found yet takes this with it when it is found.
      if (value !== undefined && asOf === this.#asOf)
        this.#answers.offer(key, () => {
          const { size, group } = factsOf(value)
          const place = group === undefined ? undefined : placeOf(teamId, group)
          return { kind, teamId, name, value, size: sizeOfEntry + name.length + size, place, forgotten }
        })
      return value
    })
  }

  #isForgotten({ place, forgotten }: Remembered): boolean {
    return place !== undefined && (this.#lastForgotten[place] ?? 0) > forgotten
  }

  #ask(): void {
    const version = this.#version()
    this.#isDue = false
    if (version instanceof Promise) {
      this.#learning = version.then((found) => {
        if (this.#learning !== undefined) this.#learn(found)
        return found
      })
      // Perhaps nobody waits for it.
      this.#learning.catch(() => {})
    } else {
      // What was asked before, and is still to be told, says nothing of now.
      this.#learning = undefined
      this.#learn(version)
    }
  }

  /** Forgets everything if anything has changed. */
  #learn(version: Version | undefined): void {
    if (version === this.#asOf) return
    this.#answers.clear()
    this.#asOf = version
  }
}

function placeOf(teamId: number, group: string): number {
  return quickHash(group, teamId) & (places - 1)
}
