// What the engines alone cost, one piece of work behind the other. Where requests share a round trip or a commit, a
// service goes below that.
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { KeyRing } from '../src/tokens/key-ring.ts'
import { onPostgres } from '../test/support/postgres-client.ts'
import { createPostgres } from '../test/support/postgres-server.ts'
import { postgresSettings } from './servers.ts'
import { median } from './statistics.ts'

export interface Floor {
  name: string
  /** CPU time of this process per piece of work, in microseconds. */
  cpu: number
}

/** Behind one that does not count: V8 compiles, and caches fill. */
const passes = 5
/** Filling more takes long. */
const mostRows = 1_000_000
/** As many as rotations of 32 clients are found in a commit. */
const sharedByReplacements = 20
/** About what a user group takes. */
const value = 'x'.repeat(200)

export async function measureFloors(groups: number, times: number): Promise<Floor[]> {
  const rows = Math.min(groups, mostRows)
  return [...sqliteFloors(rows, times), sealFloor(times), ...(await postgresFloors(rows, times))]
}

function sqliteFloors(rows: number, times: number): Floor[] {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const database = new DatabaseSync(join(folder, 'floor.db'))
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -8000')
    database.exec('create table floor (id integer primary key, name text unique, value text) strict')
    const insert = database.prepare('insert into floor (name, value) values (?, ?)')
    const names = Array.from({ length: rows }, () => randomUUID())
    database.exec('begin')
    for (const name of names) insert.run(name, value)
    database.exec('commit')
    const select = database.prepare('select id, value from floor where name = ?')
    const selectAny = perPiece(times, () => select.get(names[randomInt(rows)] ?? ''))
    const alone = perPiece(Math.ceil(times / 200), () => insert.run(randomUUID(), value))
    const together = perPiece(Math.ceil(times / 200), () => {
      database.exec('begin')
      for (let row = 0; row < 64; row++) insert.run(randomUUID(), value)
      database.exec('commit')
    })
    // As the service keeps tokens: a change by the row's id, and every text there ever was in a table of its own.
    database.exec('create table changing (id integer primary key, name text, value text) strict')
    database.exec('create table place (name text primary key, id integer) strict, without rowid')
    database.exec('insert into changing select id, name, value from floor')
    database.exec('insert into place select name, id from floor order by name')
    const replace = database.prepare('update changing set name = ? where id = (select id from place where name = ?)')
    const remember = database.prepare('insert into place select ?, id from place where name = ?')
    const replaced = perPiece(Math.ceil(times / 100), () => {
      database.exec('begin')
      for (let row = 0; row < sharedByReplacements; row++) {
        const at = randomInt(rows)
        const [current = '', fresh] = [names[at], randomUUID()]
        replace.run(fresh, current)
        remember.run(fresh, current)
        names[at] = fresh
      }
      database.exec('commit')
    })
    return [
      { name: `SQLite: prepared select, any of ${rows}`, cpu: selectAny },
      { name: `SQLite: durable insert, alone, beside ${rows}`, cpu: alone },
      { name: `SQLite: durable insert, 64 in a commit, beside ${rows}`, cpu: together / 64 },
      {
        name: `SQLite: durable replacement of a unique text, ${sharedByReplacements} in a commit, any of ${rows}`,
        cpu: replaced / sharedByReplacements,
      },
    ]
  } finally {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function sealFloor(times: number): Floor {
  const ring = new KeyRing([randomBytes(32)])
  const sealed = ring.seal(randomBytes(48), 'floor')
  return { name: 'opening a sealed token', cpu: perPiece(times, () => ring.open(sealed, 'floor')) }
}

async function postgresFloors(rows: number, times: number): Promise<Floor[]> {
  const server = await createPostgres(postgresSettings)
  try {
    await server.start()
    return await onPostgres(server.url, (client) => selectFloor(client, rows, Math.ceil(times / 10)))
  } finally {
    await server.remove()
  }
}

async function selectFloor(client: pg.Client, rows: number, times: number): Promise<Floor[]> {
  await client.query('create table floor (id bigint primary key, name text unique, value text)')
  await client.query(
    'insert into floor select n, md5(n::text), repeat($2, 200) from generate_series(0, $1::integer - 1) as n',
    [rows, 'x'],
  )
  await client.query('vacuum analyze floor')
  const costs = []
  for (let pass = 0; pass <= passes; pass++) {
    const names = Array.from({ length: times }, () =>
      createHash('md5')
        .update(`${randomInt(rows)}`)
        .digest('hex'),
    )
    const began = process.cpuUsage()
    for (const name of names)
      await client.query({ name: 'floor', text: 'select id, value from floor where name = $1', values: [name] })
    costs.push(used(began) / times)
  }
  return [{ name: `PostgreSQL: prepared select, client side, any of ${rows}`, cpu: median(costs.slice(1)) }]
}

function perPiece(times: number, work: () => void): number {
  const costs = Array.from({ length: passes + 1 }, () => {
    const began = process.cpuUsage()
    for (let at = 0; at < times; at++) work()
    return used(began) / times
  })
  return median(costs.slice(1))
}

function used(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began)
  return user + system
}
