const entriesOfOneAge = 12_000

/**
 * Keeps answers for exactly as long as the database says that nothing has changed, by whomever, since they were read.
 * Where it cannot say so at next to no cost, `version` is undefined and nothing is kept: an answer is never stale.
 */
export class Memory {
  readonly #version: () => number | undefined
  /** In two ages: when the younger is full it becomes the older, and what nobody has asked for since is gone. */
  #younger = new Map<string, unknown>()
  #older = new Map<string, unknown>()
  #asOf: number | undefined

  constructor(version: () => number | undefined) {
    this.#version = version
  }

  /** Forgets everything if anything has changed. Once in a request is enough: what changes later came after it. */
  refresh(): void {
    const version = this.#version()
    if (version === this.#asOf) return
    this.#younger.clear()
    this.#older.clear()
    this.#asOf = version
  }

  peek<T>(key: string): T | undefined {
    const known = this.#younger.get(key)
    if (known !== undefined) return known as T
    const old = this.#older.get(key)
    if (old !== undefined) this.#keep(key, old)
    return old as T | undefined
  }

  /** What `read` gave for the key, or gives now. What is not there (undefined) is not kept. */
  async recall<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = this.peek<T>(key)
    if (known !== undefined) return known
    const asOf = this.#asOf
    if (asOf === undefined) return read()
    const value = await read()
    // Something may have changed while we read; then it was read too early to be kept.
    if (asOf === this.#version() && asOf === this.#asOf && value !== undefined) this.#keep(key, value)
    return value
  }

  #keep(key: string, value: unknown): void {
    if (this.#younger.size >= entriesOfOneAge) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(key, value)
  }
}
