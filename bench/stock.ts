import { groupToken } from './names.ts'

/** Prime, and more than there are groups: steps of it come to each of them before they come to one again. */
const prime = 1_000_000_007

/** The current tokens of groups to rotate: each that was filled in, scattered over the database, then the oldest again. */
export class Stock {
  readonly #from: number
  readonly #count: number
  #taken = 0
  readonly #given: string[] = []

  constructor({ from, to } = { from: 0, to: 0 }) {
    this.#from = from
    this.#count = to - from
  }

  take(): string | undefined {
    if (this.#taken === this.#count) return this.#given.shift()
    const step = prime % this.#count
    return groupToken(this.#from + ((this.#taken++ * step) % this.#count))
  }

  give(token: string): void {
    this.#given.push(token)
  }
}
