import { openSync, readSync } from 'node:fs'

const headerLength = 48

/**
 * Tells whether anybody, in any process, has committed anything. In WAL mode a commit becomes visible by the header of
 * the WAL index, which all processes share in the file beside the database that ends in -shm: as long as its bytes are
 * the same, so is the database (https://www.sqlite.org/walformat.html). `pragma data_version` says the same, of other
 * connections only, at three times the cost: it begins and ends a transaction.
 */
export class WalIndex {
  /** Never closed: that would drop the locks SQLite holds on the same file in this process, as POSIX has it. */
  readonly #file: number
  readonly #header = Buffer.alloc(headerLength)
  readonly #seen = Buffer.alloc(headerLength)
  #changes = 0

  constructor(database: string) {
    this.#file = openSync(`${database}-shm`, 'r')
  }

  version(): number {
    readSync(this.#file, this.#header, 0, headerLength, 0)
    if (!this.#header.equals(this.#seen)) {
      this.#header.copy(this.#seen)
      this.#changes += 1
    }
    return this.#changes
  }
}
