import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
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
