/**
 * Gathers what comes up until the next opportunity, and does it in one go: what the first of its kind has brought into
 * the processor's caches is still there for the others. Most of what a request costs is waiting for memory.
 */
export class Together<Item> {
  readonly #schedule: (work: () => void) => unknown
  readonly #perform: (items: readonly Item[]) => void
  #items: Item[] = []

  constructor(schedule: (work: () => void) => unknown, perform: (items: readonly Item[]) => void) {
    this.#schedule = schedule
    this.#perform = perform
  }

  add(item: Item): void {
    if (this.#items.push(item) > 1) return
    this.#schedule(() => {
      const items = this.#items
      this.#items = []
      this.#perform(items)
    })
  }
}
