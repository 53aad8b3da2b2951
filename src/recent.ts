const oneIn = 8

/**
 * What was asked for lately, by number, in two ages: when the younger is full it becomes the older, and what nobody has
 * asked for since is gone. Once that has happened only one new entry in eight is kept: what is asked for often is soon
 * among them, and what is asked for once does not pay for being remembered.
 */
export class Recent<Entry> {
  #younger = new Map<number, Entry>()
  #older = new Map<number, Entry>()
  #offered = 0
  readonly #entriesOfOneAge: number

  constructor(entriesOfOneAge: number) {
    this.#entriesOfOneAge = entriesOfOneAge
  }

  get(key: number): Entry | undefined {
    const known = this.#younger.get(key)
    if (known !== undefined) return known
    const old = this.#older.get(key)
    if (old !== undefined) this.#add(key, old)
    return old
  }

  /** What is not kept is not made. */
  offer(key: number, make: () => Entry): void {
    this.#offered += 1
    if (this.#older.size === 0 || this.#offered % oneIn === 0) this.#add(key, make())
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
  }

  #add(key: number, entry: Entry): void {
    if (this.#younger.size >= this.#entriesOfOneAge) {
      this.#older = this.#younger
      this.#younger = new Map()
    }
    this.#younger.set(key, entry)
  }
}
