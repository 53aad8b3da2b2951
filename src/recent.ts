const oneIn = 8

/**
 * What was asked for lately, by number, in two ages: when the younger is full it becomes the older, and what nobody has
 * asked for since is gone. Once that has happened only one new entry in eight is kept: what is asked for often is soon
 * among them, and what is asked for once does not pay for being remembered.
 */
export class Recent<Entry> {
  #younger = new Map<number, Entry>()
  #older = new Map<number, Entry>()
  #taken = 0
  #offered = 0
  readonly #roomOfOneAge: number
  readonly #sizeOf: (entry: Entry) => number

  /** Room for so many entries, or for as much as they take by `sizeOf`. */
  constructor(roomOfOneAge: number, sizeOf: (entry: Entry) => number = () => 1) {
    this.#roomOfOneAge = roomOfOneAge
    this.#sizeOf = sizeOf
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
    this.#taken = 0
  }

  #add(key: number, entry: Entry): void {
    if (this.#taken >= this.#roomOfOneAge) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#taken = 0
    }
    this.#younger.set(key, entry)
    this.#taken += this.#sizeOf(entry)
  }
}
