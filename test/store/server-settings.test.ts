import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import { openPool } from '../../src/store/postgres-pool.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { noon, teamOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines

describe('whatever the owner of a PostgreSQL database has set for it', () => {
  it('a commit that is answered is on disk', async (t) => {
    assert.equal(await ownSynchronousCommit(t, 'off'), 'on')
  })

  it('a commit that waits for more than that waits for it', async (t) => {
    assert.equal(await ownSynchronousCommit(t, 'remote_apply'), 'remote_apply')
  })

  it('what a commit waits for stays so while the server is told to reload its settings', async (t) => {
    const { environment, remove } = await postgres.freshDatabase()
    t.after(remove)
    const pool = await openPool(environment.DATABASE_URL, {})
    t.after(() => pool.end())
    const { rows } = await pool.query(`select source from pg_settings where name = 'synchronous_commit'`)
    assert.deepEqual(rows, [{ source: 'session' }], 'a reload changes what the session has not set itself')
  })

  for (const level of ['repeatable read', 'serializable'])
    it(`who has waited for another sees what that one did, where ${level} is the default`, async (t) => {
      const environment = await databaseWith(t, `default_transaction_isolation = '${level}'`)
      const services = await Promise.all(times(3, () => openService(readConfig(environment), { bringsKey: true })))
      t.after(() => Promise.all(services.map(({ store }) => store.close())))
      const [{ id } = assert.fail()] = await Promise.all(
        services.map(({ store }) => store.teams.create('A team', noon)),
      )
      const made = await Promise.all(services.map((service) => teamOn(service, id, null).make('acme')))
      assert.equal(new Set(made.map(({ token }) => token)).size, 1)
    })
})

async function databaseWith(t: TestContext, setting: string) {
  const { environment, remove } = await postgres.freshDatabase()
  t.after(remove)
  const name = new URL(environment.DATABASE_URL).pathname.slice(1)
  await rawSql(environment, `alter database ${name} set ${setting}`)
  return environment
}

async function ownSynchronousCommit(t: TestContext, theirs: string): Promise<string | undefined> {
  const { DATABASE_URL } = await databaseWith(t, `synchronous_commit = ${theirs}`)
  const pool = await openPool(DATABASE_URL, {})
  t.after(() => pool.end())
  const { rows } = await pool.query<{ synchronous_commit: string }>('show synchronous_commit')
  return rows[0]?.synchronous_commit
}
