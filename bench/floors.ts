// What the engines themselves cost, without a service around them: no design can be cheaper than these.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { createPostgres } from '../test/support/postgres-server.ts'

export interface Floor {
  name: string
  /** CPU time of this process per piece of work, in microseconds. */
  cpu: number
}

const rows = 1_000

export async function measureFloors(times: number): Promise<Floor[]> {
  return [...sqliteFloors(times), ...(await postgresFloors(times))]
}

function sqliteFloors(times: number): Floor[] {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const database = new DatabaseSync(join(folder, 'floor.db'))
  try {
    database.exec('pragma journal_mode = wal; pragma synchronous = full')
    database.exec('create table floor (id integer primary key, name text unique, value text) strict')
    const insert = database.prepare('insert into floor (name, value) values (?, ?)')
    database.exec('begin')
    for (let row = 0; row < rows; row++) insert.run(`name ${row}`, 'value')
    database.exec('commit')
    const select = database.prepare('select id, value from floor where name = ?')
    const select_ = perPiece(times, (at) => select.get(`name ${at % rows}`))
    const alone = perPiece(Math.ceil(times / 50), (at) => insert.run(`alone ${at}`, 'value'))
    const together = perPiece(Math.ceil(times / 50), (at) => {
      database.exec('begin')
      for (let row = 0; row < 64; row++) insert.run(`together ${at} ${row}`, 'value')
      database.exec('commit')
    })
    return [
      { name: 'SQLite: prepared select', cpu: select_ },
      { name: 'SQLite: durable insert, alone', cpu: alone },
      { name: 'SQLite: durable insert, 64 in a commit', cpu: together / 64 },
    ]
  } finally {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function postgresFloors(times: number): Promise<Floor[]> {
  const server = await createPostgres()
  await server.start()
  const client = new pg.Client({ connectionString: server.url })
  try {
    await client.connect()
    await client.query('create table floor (id bigint primary key, name text unique, value text)')
    await client.query(`insert into floor select n, 'name ' || n, 'value' from generate_series(0, ${rows}) as n`)
    const began = process.cpuUsage()
    const asked = Math.ceil(times / 10)
    for (let at = 0; at < asked; at++)
      await client.query({
        name: 'floor',
        text: 'select id, value from floor where name = $1',
        values: [`name ${at % rows}`],
      })
    const { user, system } = process.cpuUsage(began)
    return [{ name: 'PostgreSQL: prepared select, client side', cpu: (user + system) / asked }]
  } finally {
    await client.end()
    await server.remove()
  }
}

function perPiece(times: number, work: (at: number) => void): number {
  const began = process.cpuUsage()
  for (let at = 0; at < times; at++) work(at)
  const { user, system } = process.cpuUsage(began)
  return (user + system) / times
}
