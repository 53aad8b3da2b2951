/** Lets so many in at a time. The others wait in the order in which they came, and no longer than is sensible. */
export class Places {
  readonly #patience: number
  readonly #queue = new Set<() => void>()
  #free: number

  constructor(count: number, patience: number) {
    this.#free = count
    this.#patience = patience
  }

  get waiting(): number {
    return this.#queue.size
  }

  /** Undefined where there is a place at once. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1
      return undefined
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      this.#queue.delete(resolve)
      reject(new Error('timeout exceeded while others were at work'))
    }, this.#patience)
    this.#queue.add(resolve)
    return promise.finally(() => clearTimeout(timer))
  }

  leave(): void {
    const [next] = this.#queue
    if (next === undefined) this.#free += 1
    else {
      this.#queue.delete(next)
      next()
    }
  }
}
