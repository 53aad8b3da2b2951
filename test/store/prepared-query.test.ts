import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { type Row, type Statement, statementOf, type Value } from '../../src/store/database.ts'
import { askServer } from '../../src/store/postgres-query.ts'
import { engines, type FreshDatabase } from '../support/engines.ts'

const [, postgres = assert.fail()] = engines

describe('a statement prepared on PostgreSQL', () => {
  let database: FreshDatabase
  let client: pg.PoolClient
  let described = 0

  before(async () => {
    database = await postgres.freshDatabase()
    const connectionString = database.environment.DATABASE_URL
    const made = new pg.Client({ connectionString, pipeline: true } as pg.ClientConfig)
    await made.connect()
    client = made as unknown as pg.PoolClient
    client.connection.on('rowDescription', () => {
      described += 1
    })
    await client.query('create table thing (id bigint primary key, name text, bytes bytea)')
  })
  after(async () => {
    await (client as unknown as pg.Client).end()
    await database.remove()
  })

  const ask = (statement: Statement<Row>, ...values: Value[]) => askServer(client, statement, values)
  const insert = statementOf('insert into thing (id, name, bytes) values ($1, $2, $3)')
  const select = statementOf('select id, name, bytes from thing where id >= $1 order by id')

  it('gives rows as arrays, every time alike', async () => {
    await ask(insert, 1, 'one', Buffer.from('bytes'))
    await ask(insert, 2 ** 53 - 1, null, null)
    const rows = [
      [1, 'one', Buffer.from('bytes')],
      [2 ** 53 - 1, null, null],
    ]
    for (let time = 0; time < 3; time++) assert.deepEqual(await ask(select, 1), rows)
    assert.deepEqual(await ask(select, 2), rows.slice(1))
  })

  it('has its columns described once', async () => {
    const before = described
    for (let time = 0; time < 3; time++) await ask(select, 1)
    assert.equal(described, before)
  })

  it('may be asked again before its first answer is there', async () => {
    const fresh = statementOf('select count(*) from thing where id > $1')
    assert.deepEqual(await Promise.all([ask(fresh, 0), ask(fresh, 1), ask(fresh, 0)]), [[[2]], [[1]], [[2]]])
  })

  for (const text of ['select id from later where id = $1', 'insert into later (id) values ($1)']) {
    it(`may fail the first time, and be asked again: ${text}`, async () => {
      const statement = statementOf(text)
      await client.query('drop table if exists later')
      await assert.rejects(ask(statement, 1), { code: '42P01' })
      await client.query('create table later (id bigint)')
      assert.deepEqual(await ask(statement, 1), [])
      assert.deepEqual(await ask(statement, 1), [])
    })
  }

  it('may fail any other time too', async () => {
    await assert.rejects(ask(insert, 1, 'again', null), { code: '23505' })
    assert.deepEqual(await ask(insert, 3, 'three', null), [])
    assert.equal((await ask(select, 3)).length, 2)
  })
})
