/** A power of two. */
const places = 16 * 1024

/**
 * What was asked for lately, by number, in two ages: when the younger is full it becomes the older, and what nobody has
 * asked for since is gone. Once that has happened an entry is kept only when it is asked for the second time, with not
 * many others in between: what is asked for once does not pay for being remembered, nor push anything out.
 */
export class Recent<Entry> {
  #younger = new Map<number, Entry>()
  #older = new Map<number, Entry>()
  #taken = 0
  /** The last key that was offered for each place: a key has one place, and shares it with others. */
  readonly #offered = new Int32Array(places)
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
    if (this.#older.size === 0 || this.#isOfferedAgain(key)) this.#add(key, make())
  }

  clear(): void {
    this.#younger.clear()
    this.#older.clear()
    this.#taken = 0
  }

  #isOfferedAgain(key: number): boolean {
    const [place, mark] = [key & (places - 1), key | 0]
    const isAgain = this.#offered[place] === mark
    this.#offered[place] = mark
    return isAgain
  }

  #add(key: number, entry: Entry): void {
    if (this.#taken >= this.#roomOfOneAge) {
      this.#older = this.#younger
      this.#younger = new Map()
      this.#taken = 0
    }
    const replaced = this.#younger.get(key)
    this.#younger.set(key, entry)
    this.#taken += this.#sizeOf(entry) - (replaced === undefined ? 0 : this.#sizeOf(replaced))
  }
}
