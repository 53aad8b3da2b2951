import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allRows } from '../test/support/all-rows.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'

/** Somewhere a secret might have come to lie, and what lies there. */
export interface Place {
  name: string
  content: string | Buffer
}

/** Every file below a folder. */
export function filesIn(folder: string): Place[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => ({ name, content: readFileSync(join(parentPath, name)) }))
}

/** All that PostgreSQL keeps of a database: its rows as the server tells them, its files and the log of its changes. */
export async function postgresPlaces(environment: Environment): Promise<Place[]> {
  const rows = (await allRows(environment)).join('\n')
  await rawSql(environment, 'checkpoint')
  const [server] = await rawSql(
    environment,
    `select current_setting('data_directory') as folder, oid from pg_database where datname = current_database()`,
  )
  const folder = String(server?.folder)
  return [
    { name: 'rows', content: rows },
    ...filesIn(join(folder, 'base', String(server?.oid))),
    ...filesIn(join(folder, 'pg_wal')),
  ]
}

/** What every user of the machine sees of its processes; nothing where there is no /proc. */
export function commandLines(): Place[] {
  const lines = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        // It has ended meanwhile.
        return ''
      }
    })
  return [{ name: 'the list of processes', content: lines.join('\n') }]
}
