import assert from 'node:assert/strict'
import { it } from 'node:test'
import { run, sql } from '../../src/store/database.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines
const select = sql<[name: string]>`select name from thing`
const update = sql<[name: string]>`update thing set name = name returning name`

it('a column that gets another type on PostgreSQL is read and written by those who knew the old one', async (t) => {
  const { environment, remove } = await postgres.freshDatabase()
  t.after(remove)
  await rawSql(environment, "create table thing as select 'acme'::text as name")
  const database = await openPostgres(environment.DATABASE_URL)
  t.after(() => database.close())
  const ways = [() => database.read(select), () => database.write(() => run(update), 'once')]
  for (const [index, way] of ways.entries()) {
    // On more connections than there are tries.
    await Promise.all(times(5, way))
    await rawSql(environment, `alter table thing alter column name type varchar(${400 + index})`)
    assert.deepEqual(await way(), [['acme']])
  }
})
