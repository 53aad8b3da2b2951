import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openedTwice } from '../../test/support/opened-twice.ts'
import { run, sql } from './database.ts'
import { FilesInPlace } from './files-in-place.ts'
import { SqliteConnection } from './sqlite-connection.ts'
import { SqliteWrites } from './sqlite-writes.ts'
import { WalIndex } from './wal-index.ts'

/** Looked at before a transaction and behind its commit: there somebody else is faster. */
class Meddled extends FilesInPlace {
  readonly #meddle: () => void
  #times = 0

  constructor(meddle: () => void) {
    super()
    this.#meddle = meddle
  }

  override insist(): void {
    if (++this.#times === 2) this.#meddle()
  }
}

const all = sql<[text: string]>`select text from note`

describe('a write that has changed nothing on SQLite', () => {
  const works = {
    *'finds what is there'() {
      return yield* run(all)
    },
    *'is refused'() {
      yield* run(all)
      throw new Error('refused')
    },
  }
  for (const [name, work] of Object.entries(works))
    it(`and ${name} hides no commit of another process behind its own`, async (t) => {
      const { path, own, other, write } = openedTwice(t)
      const index = new WalIndex(path)
      const meddled = new Meddled(() => write(other))
      const writes = new SqliteWrites(new SqliteConnection(own), meddled, index, () => {})
      const version = index.version()
      await writes.add<unknown>(work, 'order').catch(() => {})
      assert.equal(other.prepare('select count(*) as count from note').get()?.count, 1)
      assert.notEqual(index.version(), version)
    })
})
