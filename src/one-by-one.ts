/**
 * Does one thing in a turn of the event loop. What else comes up need not wait for all of them, and V8 can end a
 * collection between two: while one is under way, all that they leave behind is taken for still in use.
 */
export class OneByOne<Item> {
  readonly #perform: (item: Item) => void
  readonly #items: Item[] = []

  constructor(perform: (item: Item) => void) {
    this.#perform = perform
  }

  add(item: Item): void {
    if (this.#items.push(item) === 1) this.#schedule()
  }

  #schedule(): void {
    setImmediate(() => {
      const item = this.#items.shift() as Item
      if (this.#items.length > 0) this.#schedule()
      this.#perform(item)
    })
  }
}
