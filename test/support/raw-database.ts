import { DatabaseSync } from 'node:sqlite'
import { onPostgres } from './postgres-client.ts'
import type { Environment } from './service-process.ts'

type RawRow = Record<string, unknown>

/** One SQL statement past the service, for what only the database can tell, or to break what the service relies on. */
export async function rawSql({ DATABASE_URL = '' }: Environment, statement: string): Promise<RawRow[]> {
  if (DATABASE_URL.startsWith('sqlite:')) {
    const connection = new DatabaseSync(sqlitePath({ DATABASE_URL }), { timeout: 5_000 })
    try {
      return connection.prepare(statement).all()
    } finally {
      connection.close()
    }
  }
  return onPostgres(DATABASE_URL, async (client) => (await client.query<RawRow>(statement)).rows)
}

export async function rawCount(environment: Environment, fromWhere: string): Promise<number> {
  const [row] = await rawSql(environment, `select count(*) as found from ${fromWhere}`)
  return Number(row?.found)
}

export function sqlitePath({ DATABASE_URL = '' }: Environment): string {
  return DATABASE_URL.slice('sqlite:'.length)
}
