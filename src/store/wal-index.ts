import { openSync, readSync } from 'node:fs'
import { endianness } from 'node:os'

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
    this.#read()
    if (!this.#header.equals(this.#seen)) {
      this.#header.copy(this.#seen)
      this.#changes += 1
    }
    return this.#changes
  }

  /**
   * Commits without another version. To be called by who holds the lock for writing, so that others can commit only before
   * or behind it, and are noticed; and who has written something, for only that is counted.
   */
  passOver(commit: () => void): void {
    this.version()
    commit()
    this.#read()
    if (commitsIn(this.#header) === (commitsIn(this.#seen) + 1) % 2 ** 32) this.#header.copy(this.#seen)
  }

  #read(): void {
    readSync(this.#file, this.#header, 0, headerLength, 0)
  }
}

/** The header counts the commits, in the machine's own order of bytes. */
function commitsIn(header: Buffer): number {
  return endianness() === 'LE' ? header.readUInt32LE(8) : header.readUInt32BE(8)
}
