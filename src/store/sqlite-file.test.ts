import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { it } from 'node:test'
import { faultIn } from './sqlite-file.ts'

it('a file in which a row refers to one that is not there is not whole', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'test.db')
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  t.after(() => database.close())
  database.exec('create table team (id integer primary key); create table member (team integer references team (id))')
  database.exec('insert into team values (1); insert into member values (1)')
  assert.equal(faultIn(path), undefined)
  database.exec('delete from team')
  assert.equal(faultIn(path), 'a row of member refers to one that is not there')
})

it('a file without the end of its last page is not whole', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-file-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'test.db')
  using database = new DatabaseSync(path)
  // What is missing is within a value: SQLite takes it for zeros, and finds nothing wrong with them.
  database.exec('create table note (text text); insert into note values (zeroblob(100))')
  assert.equal(faultIn(path), undefined)
  truncateSync(path, statSync(path).size - 10)
  assert.equal(faultIn(path), 'the end of its last page is missing')
})
