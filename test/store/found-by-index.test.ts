import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { rawSql } from '../support/raw-database.ts'
import { noon, type TestTeam, teamOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines
/** Autovacuum counts the rows of a table for the first time when fifty have come. */
const few = 50
const many = 20_000

type Sql = (statement: string) => Promise<Record<string, unknown>[]>

describe('PostgreSQL finds a row by an index', () => {
  it('for a look-up in a table that has just grown, though it had planned for a few rows', async (t) => {
    assertFew(await rowsReadFor(t, grow, lookUpAll))
  })

  it('for a rotation in a table that has just grown, though it had planned for a few rows', async (t) => {
    assertFew(await rowsReadFor(t, grow, rotateAll))
  })

  it('for a rotation of what has been rotated many times, though it might expect to come across a former token soon', async (t) => {
    assertFew(await rowsReadFor(t, rotateOften, rotateAll))
  })
})

function assertFew(rows: number): void {
  assert.ok(rows > 0 && rows < many, `${rows} rows were read`)
}

async function grow(sql: Sql): Promise<void> {
  await sql(`
    insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled, created_at,
      updated_at, mapping, properties)
    select n, team_id, n, n, sha256(n::text::bytea), token_sealed, token_key, 0, created_at, updated_at, '{}', '{}'
    from user_group, generate_series(1, ${many}) n where provided_id = 'group 0'`)
  await sql(`
    insert into former_token (hash, user_group_id, rotated_at, valid_until)
    select token_hash, id, 1, 1 from user_group where id <= ${many}`)
}

async function rotateOften(sql: Sql): Promise<void> {
  await sql(`
    insert into former_token (hash, user_group_id, rotated_at, valid_until)
    select sha256((id || ' ' || n)::bytea), id, 1, 1 from user_group, generate_series(1, ${many / few}) n`)
  await sql('analyze former_token')
}

/** Those that were read while there were few count, too. */
async function rowsReadFor(
  t: TestContext,
  change: (sql: Sql) => Promise<void>,
  work: (team: TestTeam, tokens: string[]) => Promise<unknown>,
): Promise<number> {
  const database = await postgres.freshDatabase()
  t.after(database.remove)
  const service = await openService(readConfig(database.environment), { bringsKey: true })
  const sql: Sql = (statement) => rawSql(database.environment, statement)
  const { id } = await service.store.teams.create('A team', noon)
  const team = teamOn(service, id, null)
  const made = await Promise.all(times(few, (n) => team.make(`group ${n}`)))
  let tokens = await rotateAll(
    team,
    made.map(({ token }) => token),
  )
  for (const table of ['user_group', 'former_token']) {
    await sql(`alter table ${table} set (autovacuum_enabled = off)`)
    await sql(`vacuum analyze ${table}`)
  }
  // When a statement has been asked a few times, PostgreSQL keeps its plan.
  for (const _ of times(8, String)) {
    await lookUpAll(team, tokens)
    tokens = await rotateAll(team, tokens)
  }
  await change(sql)
  // What a connection has read is added up when it ends.
  const haveLeft = (who: string) =>
    eventually(`all ${who} have left`, async () => {
      const open = await sql(`
        select from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and application_name ${who}`)
      return open.length === 0
    })
  await haveLeft(`<> 'user-group-service'`)
  await sql('select pg_stat_reset()')
  await work(team, tokens)
  await service.store.close()
  await haveLeft(`= 'user-group-service'`)
  const [read] = await sql(`
    select (select sum(seq_tup_read) from pg_stat_user_tables where relname in ('user_group', 'former_token'))
      + (select sum(idx_tup_read) from pg_stat_user_indexes where relname in ('user_group', 'former_token')) as rows`)
  return Number(read?.rows)
}

/** Many together, and one alone. */
async function rotateAll(team: TestTeam, [first = '', ...others]: string[]): Promise<string[]> {
  return [await team.rotate(first), ...(await Promise.all(others.map((token) => team.rotate(token))))]
}

async function lookUpAll(team: TestTeam, tokens: string[]): Promise<void> {
  const [first = ''] = tokens
  await Promise.all(tokens.map((token) => team.verify(token)))
  await Promise.all(tokens.map((_, n) => team.userGroups.find(`group ${n}`)))
  await team.verify(first)
  await team.userGroups.find('group 0')
}
