import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readFixture } from '../../campaigns/fixture.ts'
import { systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { OperatorError } from '../../src/operator-error.ts'
import { openStore } from '../../src/store/open.ts'
import { type Engine, engines } from '../support/engines.ts'
import { restoreDump } from '../support/plain-dump.ts'
import { onPostgres } from '../support/postgres-client.ts'
import { rawSql } from '../support/raw-database.ts'
import { times } from '../support/times.ts'

async function newDatabase(t: TestContext, engine: Engine) {
  const { environment, remove } = await engine.freshDatabase()
  t.after(remove)
  const { database } = readConfig(environment)
  const tables = engine.name === 'SQLite' ? 'sqlite_master' : "pg_class where relnamespace = 'public'::regnamespace"
  return {
    sql: (statement: string) => rawSql(environment, statement),
    /** What there is in the database: tables, indexes. */
    inventory: () => rawSql(environment, `select * from ${tables}`),
    open: (upgrade = true) => openStore(database, { clock: systemClock, upgrade }),
  }
}

for (const engine of engines)
  describe(`opening a database on ${engine.name}`, () => {
    it('makes the tables the first time, and changes nothing the second', async (t) => {
      const { open, sql, inventory } = await newDatabase(t, engine)
      const first = await open()
      const team = await first.teams.create('Kept', 1)
      await first.close()
      const before = [await inventory(), await sql('select * from schema_version')]
      const second = await open()
      assert.deepEqual(await second.teams.list(), [team])
      await second.close()
      assert.deepEqual([await inventory(), await sql('select * from schema_version')], before)
    })

    it('works for ten who open a new one at the same time', async (t) => {
      const { open, sql } = await newDatabase(t, engine)
      const stores = await Promise.all(times(10, () => open()))
      assert.deepEqual(
        await Promise.all(stores.map(({ teams }) => teams.list())),
        times(10, () => []),
      )
      await Promise.all(stores.map((store) => store.close()))
      const [{ versions, latest } = {}] = await sql(
        'select count(*) as versions, max(version) as latest from schema_version',
      )
      assert.equal(Number(versions), Number(latest))
    })

    it('refuses one that a newer program wrote, names both versions, and changes nothing', async (t) => {
      const { open, sql, inventory } = await newDatabase(t, engine)
      await (await open()).close()
      await sql('insert into schema_version (version, applied_at) values (999, 0)')
      const before = [await inventory(), await sql('select * from schema_version')]
      for (const upgrade of [true, false])
        await assert.rejects(open(upgrade), (error: unknown) => {
          assert.ok(error instanceof OperatorError, String(error))
          assert.match(error.message, /999.*newer than this program's \d+/)
          return true
        })
      assert.deepEqual([await inventory(), await sql('select * from schema_version')], before)
    })

    it('looks without changing anything when told so', async (t) => {
      const { open, sql, inventory } = await newDatabase(t, engine)
      await (await open()).close()
      const before = [await inventory(), await sql('select * from schema_version')]
      const look = await open(false)
      assert.deepEqual(await look.teams.list(), [])
      await look.close()
      assert.deepEqual([await inventory(), await sql('select * from schema_version')], before)
    })

    for (const [state, prepare, remedy] of [
      ['is behind', 'delete from schema_version where version > 1', /^Start the service once: it migrates/],
      ['is empty', undefined, /^Check DATABASE_URL; .* when the service starts/],
    ] as const)
      it(`refuses to look at one that ${state}, and says what a start does`, async (t) => {
        const { open, sql, inventory } = await newDatabase(t, engine)
        if (prepare !== undefined) {
          await (await open()).close()
          await sql(prepare)
        }
        const before = await inventory()
        await assert.rejects(open(false), (error: unknown) => {
          assert.ok(error instanceof OperatorError, String(error))
          assert.match(error.remedy, remedy)
          return true
        })
        assert.deepEqual(await inventory(), before)
      })

    it('makes tokens that lead to their groups at once in a new one, and else a day after the migration', async (t) => {
      const { open, sql } = await newDatabase(t, engine)
      const first = await open()
      assert.equal(await first.leadsFrom(), 0)
      await first.close()
      const migratedAt = Date.UTC(2026, 6, 1)
      await sql(`update schema_version set applied_at = ${migratedAt} where version = 7`)
      const second = await open()
      assert.equal(await second.leadsFrom(), migratedAt + 24 * 60 * 60_000)
      await second.close()
    })
  })

describe('a migration on PostgreSQL', () => {
  const [, postgres = assert.fail()] = engines
  const dawdleOverOneIndex = `
    create function dawdle() returns event_trigger language plpgsql as $$ begin
      perform pg_sleep(1.5) where to_regclass('user_group_by_provided_id') is not null;
    end $$;
    create event trigger dawdle on ddl_command_start when tag in ('DROP INDEX') execute function dawdle()`

  // Servers before version 17 have no such setting.
  const limitTransactions = `
    do $$ begin
      execute format('alter database %I set transaction_timeout = 1000', current_database());
    exception when undefined_object then
    end $$`

  /** Where a statement may take a second. */
  async function impatientDatabase(t: TestContext) {
    const { environment, remove } = await postgres.freshDatabase()
    t.after(remove)
    const url = `${environment.DATABASE_URL}?statement_timeout=1000&query_timeout=1000`
    return {
      url: environment.DATABASE_URL,
      sql: (statement: string) => rawSql(environment, statement),
      open: () => openStore({ engine: 'postgres', url }, { clock: systemClock }),
    }
  }

  it('may take longer than any other statement or transaction, and those who start meanwhile wait for it', async (t) => {
    const { open, sql } = await impatientDatabase(t)
    await sql(dawdleOverOneIndex)
    await sql(limitTransactions)
    const stores = await Promise.all(times(3, () => open()))
    await Promise.all(stores.map((store) => store.close()))
  })

  it('gives up on a table that others hold as soon as any other statement, for all would wait behind it', async (t) => {
    const { open, url } = await impatientDatabase(t)
    await restoreDump({ DATABASE_URL: url }, readFixture(5, postgres).dump)
    await onPostgres(url, async (holder) => {
      await holder.query('begin')
      await holder.query('lock table former_token in row exclusive mode')
      const waited = pause(5_000, undefined, { ref: false })
      await assert.rejects(Promise.race([open(), waited]), { code: 'unavailable' })
    })
    await (await open()).close()
  })
})
