import { rawSql } from './raw-database.ts'
import type { Environment } from './service-process.ts'

const byTeamId = (teamId: number) => `team_id = ${teamId}`
const byGroup = (teamId: number) => `user_group_id in (select id from user_group where team_id = ${teamId})`
/** How a row tells its team, where it is not by a column team_id. */
const belonging: Record<string, (teamId: number) => string> = {
  team: (teamId) => `id = ${teamId}`,
  former_token: byGroup,
  token: byGroup,
  master_key: () => 'false',
  schema_version: () => 'false',
}

/** Every row of every table, each as a text that begins with the table's name; of one team, if it is given. */
export async function allRows(environment: Environment, teamId?: number): Promise<string[]> {
  const isSqlite = environment.DATABASE_URL?.startsWith('sqlite:')
  const tables = await rawSql(
    environment,
    isSqlite
      ? "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"
      : "select tablename as name from pg_tables where schemaname = 'public'",
  )
  const names = tables.map(({ name }) => String(name))
  const where = (name: string) => (teamId === undefined ? 'true' : (belonging[name] ?? byTeamId)(teamId))
  if (!isSqlite) {
    const each = names.map(
      (name) => `select '${name} ' || row_to_json(t)::text as line from ${name} as t where ${where(name)}`,
    )
    return (await rawSql(environment, each.join(' union all '))).map(({ line }) => String(line)).sort()
  }
  const rows: string[] = []
  for (const name of names)
    for (const row of await rawSql(environment, `select * from ${name} where ${where(name)}`))
      rows.push(`${name} ${JSON.stringify(row)}`)
  return rows.sort()
}

/** The same of one team, but for when an API token was last used: that is noted a moment after the use. */
export async function rowsOfTeam(environment: Environment, teamId: number): Promise<string[]> {
  return (await allRows(environment, teamId)).map((row) => row.replace(/"last_used_at":\w+/, ''))
}
