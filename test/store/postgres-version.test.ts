import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import pg from 'pg'
import { type Database, statementOf, type Version } from '../../src/store/database.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { createPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { standbyOf } from '../support/postgres-standby.ts'
import { rawSql } from '../support/raw-database.ts'
import { times } from '../support/times.ts'

describe('the version of a PostgreSQL database', () => {
  let server: PostgresServer
  // A server of its own, on which nothing is committed but by these tests.
  before(async () => {
    server = await createPostgres({ autovacuum: 'off' })
    await server.start()
    await sql('create table written (by text)')
  })
  after(() => server.remove())

  const sql = (statement: string) => rawSql({ DATABASE_URL: server.url }, statement)
  const opened = async (t: TestContext, { url } = server): Promise<Database> => {
    const database = await openPostgres(url)
    t.after(() => database.close())
    return database
  }
  /** Behind a change it is not told for a while. */
  const told = async (database: Database): Promise<Version | undefined> => {
    let version: Version | undefined
    for (let asked = 0; version === undefined && asked < 20; asked += 1) version = await database.version()
    return version
  }
  const begun = async (t: TestContext, writer: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: server.url })
    await client.connect()
    t.after(() => client.end())
    await client.query('begin')
    await client.query('insert into written values ($1)', [writer])
    return client
  }

  it('stays the same while nothing is committed, however much is read and begun', async (t) => {
    const database = await opened(t)
    const version = await told(database)
    assert.match(String(version), /^[-0-9a-f]{36} \d+:\d+:/)
    await Promise.all(times(5, () => sql('select count(*) from written')))
    const first = await begun(t, 'one who gives up')
    assert.equal(await told(database), version)
    await first.query('rollback')
  })

  it('is another after each commit, in whatever order they come', async (t) => {
    const database = await opened(t)
    const seen = [await told(database)]
    const writers: pg.Client[] = []
    for (const name of ['a', 'b', 'c', 'd']) writers.push(await begun(t, name))
    // The last first, so that those that began before are still under way when others have ended.
    for (const writer of [3, 1, 2, 0]) {
      await writers[writer]?.query('commit')
      seen.push(await told(database))
    }
    assert.equal(new Set(seen).size, 5, seen.join('\n'))
  })

  it('is not asked for while it changes all the time', async (t) => {
    const database = await opened(t)
    const answers: unknown[] = []
    for (const writer of times(60, String)) {
      await sql(`insert into written values ('${writer}')`)
      answers.push(await database.version())
    }
    const versions = answers.filter((version) => version !== undefined)
    assert.ok(versions.length > 1 && versions.length < 6, `${versions.length} told`)
  })

  it('is that of one connection: of another server, or of this one after a crash, the same numbers may tell of other transactions', async (t) => {
    const database = await opened(t)
    const version = await told(database)
    assert.notEqual(await told(await opened(t)), version)
    await sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'user-group-service'`)
    const reconnected = await told(database)
    assert.notEqual(reconnected, version)
    assert.equal(await told(database), reconnected)
  })

  it('is not told where a connection has lost its name', async (t) => {
    const database = await opened(t)
    assert.notEqual(await told(database), undefined)
    await database.read(statementOf('reset all'))
    assert.equal(await told(database), undefined)
  })

  it('is not told by a standby, which does not know all that are under way', async (t) => {
    const standby = await standbyOf(server)
    t.after(() => standby.remove())
    await standby.start()
    assert.equal(await told(await opened(t, standby)), undefined)
  })
})
