// What the engines themselves cost, without a service around them: no design can be cheaper than these.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { KeyRing } from '../src/tokens/key-ring.ts'
import { onPostgres } from '../test/support/postgres-client.ts'
import { createPostgres } from '../test/support/postgres-server.ts'

export interface Floor {
  name: string
  /** CPU time of this process per piece of work, in microseconds. */
  cpu: number
}

/** Filling more takes long. */
const mostRows = 1_000_000
/** About what a user group takes. */
const value = 'x'.repeat(200)

export async function measureFloors(groups: number, times: number): Promise<Floor[]> {
  const rows = Math.min(groups, mostRows)
  return [...sqliteFloors(rows, times), sealFloor(times), ...(await postgresFloors(times))]
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
    const alone = perPiece(Math.ceil(times / 50), () => insert.run(randomUUID(), value))
    const together = perPiece(Math.ceil(times / 50), () => {
      database.exec('begin')
      for (let row = 0; row < 64; row++) insert.run(randomUUID(), value)
      database.exec('commit')
    })
    return [
      { name: `SQLite: prepared select, any of ${rows}`, cpu: selectAny },
      { name: `SQLite: durable insert, alone, beside ${rows}`, cpu: alone },
      { name: `SQLite: durable insert, 64 in a commit, beside ${rows}`, cpu: together / 64 },
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

async function postgresFloors(times: number): Promise<Floor[]> {
  const server = await createPostgres()
  try {
    await server.start()
    return await onPostgres(server.url, (client) => selectFloor(client, Math.ceil(times / 10)))
  } finally {
    await server.remove()
  }
}

async function selectFloor(client: pg.Client, asked: number): Promise<Floor[]> {
  await client.query('create table floor (id bigint primary key, name text unique, value text)')
  await client.query(`insert into floor select n, 'name ' || n, 'value' from generate_series(0, 999) as n`)
  const began = process.cpuUsage()
  for (let at = 0; at < asked; at++)
    await client.query({
      name: 'floor',
      text: 'select id, value from floor where name = $1',
      values: [`name ${at % 1_000}`],
    })
  const { user, system } = process.cpuUsage(began)
  return [{ name: 'PostgreSQL: prepared select, client side', cpu: (user + system) / asked }]
}

function perPiece(times: number, work: () => void): number {
  const began = process.cpuUsage()
  for (let at = 0; at < times; at++) work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / times
}
