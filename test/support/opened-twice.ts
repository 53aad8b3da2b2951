import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { TestContext } from 'node:test'
import { connect } from '../../src/store/sqlite-connection.ts'

/** A file of SQLite with a table of notes, opened as the service does and by somebody else. */
export function openedTwice(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-opened-twice-'))
  const path = join(folder, 'database')
  const own = connect(path)
  own.exec('create table note (text)')
  const other = new DatabaseSync(path)
  t.after(() => {
    own.close()
    other.close()
    rmSync(folder, { recursive: true })
  })
  const write = (by: DatabaseSync) => by.exec(`insert into note values ('something')`)
  return { path, own, other, write }
}
