import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { openPool } from '../../src/store/postgres-pool.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'

const [, postgres = assert.fail()] = engines

describe('whatever the owner of a PostgreSQL database has set for it', () => {
  it('a commit that is answered is on disk', async (t) => {
    assert.equal(await ownSetting(t, 'off'), 'on')
  })

  it('a commit that waits for more than that waits for it', async (t) => {
    assert.equal(await ownSetting(t, 'remote_apply'), 'remote_apply')
  })
})

async function ownSetting(t: TestContext, synchronousCommit: string): Promise<string | undefined> {
  const { environment, remove } = await postgres.freshDatabase()
  t.after(remove)
  const { DATABASE_URL } = environment
  await rawSql(
    environment,
    `alter database ${new URL(DATABASE_URL).pathname.slice(1)} set synchronous_commit = ${synchronousCommit}`,
  )
  const pool = await openPool(DATABASE_URL, {})
  t.after(() => pool.end())
  const { rows } = await pool.query<{ synchronous_commit: string }>('show synchronous_commit')
  return rows[0]?.synchronous_commit
}
