/**
 * Gathers what comes up until the next opportunity, or until there is enough of it, and does it in one go: what the first
 * of its kind has brought into the processor's caches is still there for the others. Most of what a request costs is
 * waiting for memory.
 */
export class Together<Item> {
  readonly #schedule: (work: () => void) => unknown
  readonly #perform: (items: readonly Item[]) => void
  readonly #enough: number
  #items: Item[] = []

  constructor(
    schedule: (work: () => void) => unknown,
    perform: (items: readonly Item[]) => void,
    enough = Number.POSITIVE_INFINITY,
  ) {
    this.#schedule = schedule
    this.#perform = perform
    this.#enough = enough
  }

  add(item: Item): void {
    const count = this.#items.push(item)
    if (count === 1) this.#schedule(() => this.#performAll())
    if (count >= this.#enough) this.#performAll()
  }

  #performAll(): void {
    const items = this.#items
    if (items.length === 0) return
    this.#items = []
    this.#perform(items)
  }
}
