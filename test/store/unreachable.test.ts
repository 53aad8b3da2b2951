import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { type Database, run, sql } from '../../src/store/database.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { behindLine } from '../support/behind-line.ts'
import { engines } from '../support/engines.ts'
import { createPostgres } from '../support/postgres-server.ts'
import { rawSql } from '../support/raw-database.ts'
import type { Environment } from '../support/service-process.ts'

const [, postgres = assert.fail()] = engines
const one = sql<[number: number]>`select 1`
const notes = sql<[id: number]>`select id from note`
const insert = sql`insert into note (id) values (1)`

describe('a PostgreSQL that cannot be used is a fault of the moment', () => {
  it('when its Unix socket is gone, and no longer than that', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-socket-'))
    chmodSync(folder, 0o777)
    const server = await createPostgres({ unix_socket_directories: folder })
    t.after(async () => {
      await server.remove()
      rmSync(folder, { recursive: true })
    })
    await server.start()
    const { port } = new URL(server.url)
    const database = await opened(t, `postgres://postgres@/postgres?host=${folder}&port=${port}`)
    await server.stop()
    await assertUnavailable(database)
    await server.start()
    assert.deepEqual(await database.read(one), [[1]])
  })

  it('when something else answers in its place', async (t) => {
    const line = await openLine(t, (near) => near.resume().end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    const database = await opened(t, line.url)
    await assertUnavailableWhileBad(database, line)
  })

  it('when it hangs up on the question whether it takes writes', async (t) => {
    const hangUp = (near: Socket, far: Socket) => {
      near.pipe(far).pipe(near)
      near.on('data', (sent) => sent.includes('transaction_read_only') && near.resetAndDestroy())
    }
    const line = await openLine(t, hangUp)
    const database = await opened(t, `${line.url}?target_session_attrs=read-write`)
    await assertUnavailableWhileBad(database, line)
  })

  it('when a right or a table was taken away', async (t) => {
    const { url, environment } = await freshDatabase(t)
    await rawSql(environment, 'create table note (id bigint)')
    const { role, asGuest } = await newGuest(environment)
    const guest = await opened(t, asGuest)
    const owner = await opened(t, url)
    await assert.rejects(guest.read(notes), { code: 'unavailable' })
    await assert.rejects(
      guest.write(() => run(insert), 'once'),
      { code: 'unavailable' },
    )
    await rawSql(environment, `grant all on note to ${role}`)
    assert.deepEqual(await guest.read(notes), [])
    await rawSql(environment, 'drop table note')
    await assert.rejects(owner.read(notes), { code: 'unavailable' })
    await rawSql(environment, `drop role ${role}`)
  })
})

it('a start that may open one connection only is refused, and does not wait', async (t) => {
  const { environment } = await freshDatabase(t)
  const { role, asGuest } = await newGuest(environment, 'connection limit 1')
  await assert.rejects(openPostgres(asGuest), { name: 'OperatorError', message: /: too many connections for role/ })
  await rawSql(environment, `drop role ${role}`)
})

/** A line to a new database that can be cut, and on which something else happens as long as it is bad. */
async function openLine(t: TestContext, whenBad: (near: Socket, far: Socket) => void) {
  const ends = new Set<Socket>()
  const cut = () => {
    for (const near of ends) near.destroy()
  }
  const line = { url: '', isBad: false, cut }
  const engine = behindLine(postgres, (near, far) => {
    ends.add(near)
    near.on('close', () => far.destroy())
    if (line.isBad) whenBad(near, far)
    else near.pipe(far).pipe(near)
  })
  const { environment, remove } = await engine.freshDatabase()
  t.after(remove)
  line.url = environment.DATABASE_URL
  return line
}

async function newGuest(environment: Environment, more = ''): Promise<{ role: string; asGuest: string }> {
  const url = new URL(environment.DATABASE_URL ?? '')
  const role = `guest_${url.pathname.slice(1)}`
  await rawSql(environment, `create role ${role} login ${more}`)
  url.username = role
  return { role, asGuest: url.href }
}

async function freshDatabase(t: TestContext) {
  const { environment, remove } = await postgres.freshDatabase()
  t.after(remove)
  return { environment, url: environment.DATABASE_URL }
}

async function opened(t: TestContext, url: string): Promise<Database> {
  const database = await openPostgres(url)
  t.after(() => database.close())
  assert.deepEqual(await database.read(one), [[1]])
  return database
}

async function assertUnavailableWhileBad(database: Database, line: { isBad: boolean; cut(): void }): Promise<void> {
  line.isBad = true
  line.cut()
  await assertUnavailable(database)
  line.isBad = false
  assert.deepEqual(await database.read(one), [[1]])
}

async function assertUnavailable(database: Database): Promise<void> {
  for (const attempt of [() => database.read(one), () => database.write(() => run(one), 'once')])
    await assert.rejects(attempt, { code: 'unavailable' })
}
