import { rawSql } from './raw-database.ts'
import type { Environment } from './service-process.ts'

/** Every row of every table, each as a text that begins with the table's name. */
export async function allRows(environment: Environment): Promise<string[]> {
  const isSqlite = environment.DATABASE_URL?.startsWith('sqlite:')
  const tables = await rawSql(
    environment,
    isSqlite
      ? "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"
      : "select tablename as name from pg_tables where schemaname = 'public'",
  )
  const names = tables.map(({ name }) => String(name))
  if (!isSqlite) {
    const each = names.map((name) => `select '${name} ' || row_to_json(t)::text as line from ${name} as t`)
    return (await rawSql(environment, each.join(' union all '))).map(({ line }) => String(line)).sort()
  }
  const rows: string[] = []
  for (const name of names)
    for (const row of await rawSql(environment, `select * from ${name}`)) rows.push(`${name} ${JSON.stringify(row)}`)
  return rows.sort()
}
