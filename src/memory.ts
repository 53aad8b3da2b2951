import { quickHash } from './quick-hash.ts'
import { Recent } from './recent.ts'
import { after, type Soon } from './soon.ts'

type Kind = 'caller' | 'user_group' | 'token'

interface Remembered {
  kind: Kind
  teamId: number
  name: string
  value: unknown
}

/**
 * Keeps answers for exactly as long as the database says that nothing has changed, by whomever, since they were read.
 * Where it cannot say so at next to no cost, `version` is undefined and nothing is kept: an answer is never stale.
 */
export class Memory {
  readonly #version: () => number | undefined
  readonly #answers = new Recent<Remembered>(24_000)
  #asOf: number | undefined

  constructor(version: () => number | undefined) {
    this.#version = version
  }

  /** Forgets everything if anything has changed: to be called after a request has arrived, for it and all before it. */
  refresh(): void {
    const version = this.#version()
    if (version === this.#asOf) return
    this.#answers.clear()
    this.#asOf = version
  }

  /** What `read` gave for the name, or gives now. What is not there (undefined) is not kept. */
  recall<T>(kind: Kind, teamId: number, name: string, read: () => Soon<T>): Soon<T> {
    const asOf = this.#asOf
    if (asOf === undefined) return read()
    const key = quickHash(name, teamId ^ (kind.charCodeAt(0) << 24))
    const known = this.#answers.get(key)
    // A name may be a secret: it is compared only with one of the same number, which nobody can aim at.
    if (known !== undefined && known.name === name && known.teamId === teamId && known.kind === kind)
      return known.value as T
    return after(read(), (value) => {
      // Another request may have found a change while we waited: then this was read too early to be kept. A change that
      // nobody has found yet takes this with it when it is found.
      if (value !== undefined && asOf === this.#asOf) this.#answers.offer(key, () => ({ kind, teamId, name, value }))
      return value
    })
  }
}
