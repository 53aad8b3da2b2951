import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { type Query, type Row, type Statement, statementOf, type Value } from '../../src/store/database.ts'
import { askServer } from '../../src/store/postgres-query.ts'
import { engines, type FreshDatabase } from '../support/engines.ts'

const [, postgres = assert.fail()] = engines

describe('statements prepared on PostgreSQL', () => {
  let database: FreshDatabase
  let client: pg.PoolClient
  let described = 0
  let roundTrips = 0

  before(async () => {
    database = await postgres.freshDatabase()
    const connectionString = database.environment.DATABASE_URL
    const made = new pg.Client({ connectionString })
    await made.connect()
    client = made as unknown as pg.PoolClient
    client.connection.on('rowDescription', () => {
      described += 1
    })
    client.connection.on('readyForQuery', () => {
      roundTrips += 1
    })
    await client.query('create table thing (id bigint primary key, name text, bytes bytea)')
  })
  after(async () => {
    await (client as unknown as pg.Client).end()
    await database.remove()
  })

  const query = (statement: Statement<Row>, ...values: Value[]): Query => ({ statement, values })
  const ask = async (statement: Statement<Row>, ...values: Value[]) => {
    const [rows] = await askServer(client, [query(statement, ...values)])
    return rows
  }
  const insert = statementOf('insert into thing (id, name, bytes) values ($1, $2, $3)')
  const select = statementOf('select id, name, bytes from thing where id >= $1 order by id')

  it('give rows as arrays, every time alike', async () => {
    await ask(insert, 1, 'one', Buffer.from('bytes'))
    await ask(insert, 2 ** 53 - 1, null, null)
    const rows = [
      [1, 'one', Buffer.from('bytes')],
      [2 ** 53 - 1, null, null],
    ]
    for (let time = 0; time < 3; time++) assert.deepEqual(await ask(select, 1), rows)
    assert.deepEqual(await ask(select, 2), rows.slice(1))
  })

  it('have their columns described once', async () => {
    const before = described
    for (let time = 0; time < 3; time++) await ask(select, 1)
    assert.equal(described, before)
  })

  it('may be asked together in one round trip, new ones and the same one twice', async () => {
    const count = statementOf('select count(*) from thing where id > $1')
    for (const { id, others } of [
      { id: 4, others: 3 },
      { id: 5, others: 4 },
    ]) {
      const before = roundTrips
      const answers = await askServer(client, [query(insert, id, 'new', null), query(count, 0), query(count, 5)])
      assert.deepEqual(answers, [[], [[others]], [[1]]])
      assert.equal(roundTrips, before + 1)
    }
  })

  it('are not run behind one that fails, and undo those before it', async () => {
    const together = [query(insert, 6, 'six', null), query(insert, 6, 'again', null), query(insert, 7, 'seven', null)]
    await assert.rejects(askServer(client, together), { code: '23505' })
    assert.deepEqual((await ask(select, 6))?.length, 1)
  })

  it('may fail the first time after they were prepared, and be asked again', async () => {
    const divide = statementOf('select 6 / $1::int')
    await assert.rejects(ask(divide, 0), { code: '22012' })
    assert.deepEqual(await ask(divide, 2), [[3]])
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

  it('may fail behind an answer of their own in the packet that prepares them', async () => {
    const statement = statementOf('select id from passing where id = $1')
    const drop = statementOf('drop table passing')
    for (let time = 0; time < 2; time++) {
      await client.query('create table if not exists passing (id bigint)')
      const together = [query(statement, 1), query(drop), query(statement, 1)]
      await assert.rejects(askServer(client, together), { code: '42P01' })
      assert.deepEqual(await ask(statement, 1), [])
    }
  })

  it('leave the connection as it is where a value cannot be sent', { timeout: 10_000 }, async () => {
    const toPostgres = () => assert.fail('not a value')
    await assert.rejects(ask(select, { toPostgres } as unknown as Value), { message: 'not a value' })
    assert.equal((await ask(select, 4))?.length, 3)
  })

  it('may fail any other time too', async () => {
    await assert.rejects(ask(insert, 1, 'again', null), { code: '23505' })
    assert.deepEqual(await ask(insert, 3, 'three', null), [])
    assert.equal((await ask(select, 3))?.length, 4)
  })
})
