import { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'
import { onPostgres } from './postgres-client.ts'
import { sqlitePath } from './raw-database.ts'
import type { Environment } from './service-process.ts'

type Row = Record<string, unknown>
type Ask = (statement: string) => Promise<Row[]>

/** A whole database as SQL that makes it again on the same engine, all of it as of one moment. */
export function dumpDatabase(environment: Environment): Promise<string> {
  return withConnection(environment, async (ask, dialect) => {
    await ask(dialect.begin)
    const statements: string[] = []
    const tables = (await ask(dialect.tables)).map(({ name }) => String(name))
    for (const table of tables) statements.push(...(await dialect.create(table, ask)))
    for (const table of tables)
      for (const row of await ask(`select * from ${table} order by 1, 2`))
        statements.push(`insert into ${table} values (${Object.values(row).map(dialect.literal).join(', ')})`)
    for (const { text } of await ask(dialect.rest)) statements.push(String(text))
    return statements.map((statement) => `${statement};\n`).join('')
  })
}

/** Into an empty database. */
export function restoreDump(environment: Environment, dump: string): Promise<void> {
  return withConnection(environment, (_ask, { restore }) => restore(dump))
}

interface Dialect {
  begin: string
  tables: string
  create(table: string, ask: Ask): Promise<string[]>
  /** What comes behind the rows: keys and indexes. */
  rest: string
  literal(value: unknown): string
  restore(dump: string): Promise<void>
}

async function withConnection<T>(
  { DATABASE_URL = '' }: Environment,
  use: (ask: Ask, dialect: Dialect) => Promise<T>,
): Promise<T> {
  if (DATABASE_URL.startsWith('sqlite:')) {
    const connection = new DatabaseSync(sqlitePath({ DATABASE_URL }), { timeout: 5_000 })
    try {
      return await use(async (statement) => connection.prepare(statement).all(), sqlite(connection))
    } finally {
      connection.close()
    }
  }
  return onPostgres(DATABASE_URL, (client) =>
    use(async (statement) => (await client.query<Row>(statement)).rows, postgres(client)),
  )
}

const sqlite = (connection: DatabaseSync): Dialect => ({
  begin: 'begin',
  tables: "select name from sqlite_schema where type = 'table' order by rowid",
  create: async (table, ask) =>
    (await ask(`select sql from sqlite_schema where name = '${table}'`)).map(({ sql }) => String(sql)),
  rest: "select sql as text from sqlite_schema where type <> 'table' and sql is not null order by rowid",
  literal: (value) => (value instanceof Uint8Array ? `x'${Buffer.from(value).toString('hex')}'` : plainLiteral(value)),
  restore: async (dump) => connection.exec(`begin; ${dump} commit`),
})

const postgres = (client: pg.Client): Dialect => ({
  begin: 'begin isolation level repeatable read read only',
  tables: "select tablename as name from pg_tables where schemaname = 'public' order by 1",
  async create(table, ask) {
    const columns = await ask(
      `select quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
        || coalesce(' collate ' || quote_ident(collname), '')
        || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
        || case when attnotnull then ' not null' else '' end as text
      from pg_attribute
        join pg_type on pg_type.oid = atttypid
        left join pg_collation on pg_collation.oid = attcollation and attcollation <> typcollation
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped order by attnum`,
    )
    return [`create table ${table} (\n  ${columns.map(({ text }) => text).join(',\n  ')}\n)`]
  },
  rest: `
    select text from (
      select case contype when 'f' then 2 else 0 end as turn, conrelid::regclass::text as relation, conname::text as name,
        'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' '
          || pg_get_constraintdef(oid) as text
      from pg_constraint where connamespace = 'public'::regnamespace and contype in ('p', 'u', 'c', 'f')
      union all
      select 1, indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
      from pg_index join pg_class on pg_class.oid = indexrelid
      where relnamespace = 'public'::regnamespace
        and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
    ) as named order by turn, relation, name`,
  literal: (value) =>
    value instanceof Uint8Array ? `'\\x${Buffer.from(value).toString('hex')}'` : plainLiteral(value),
  restore: async (dump) => void (await client.query(`begin; ${dump} commit`)),
})

function plainLiteral(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
