import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'
import type { Environment } from '../support/service-process.ts'

const [, postgres = assert.fail()] = engines

describe('a user of PostgreSQL who does not own the database', () => {
  let premises: Premises
  let role: string
  let asGuest: Environment
  before(async () => {
    premises = await Premises.open(undefined, postgres)
    const url = new URL(premises.database.environment.DATABASE_URL)
    role = `guest_${url.pathname.slice(1)}`
    url.username = role
    asGuest = { ...premises.environment, DATABASE_URL: url.href }
    await sql(`create role ${role} login`)
    await sql('revoke create on schema public from public')
  })
  after(async () => {
    await sql(`drop owned by ${role}`)
    await sql(`drop role ${role}`)
    await premises.close()
  })

  const sql = (statement: string) => rawSql(premises.environment, statement)
  const assertRefused = async (sentence: string, remedy: string) => {
    const { code, stdout } = await runCommand(asGuest, 'doctor')
    assert.equal(code, 1)
    assert.match(stdout, new RegExp(`^BAD {2}database +${sentence}\\n +.*${remedy}`, 'm'))
    assertRefusal(await failingStart(asGuest), new RegExp(sentence), new RegExp(remedy))
  }

  it('and may make no tables is told so, by doctor too', async () => {
    await assertRefused('The user in DATABASE_URL may not write to the database\\.', 'owner of the database, or grant')
    assert.deepEqual(await sql(`select from pg_tables where schemaname = 'public'`), [])
  })

  it('and may only read is told so, by doctor and by a command that writes too', async () => {
    const owner = await premises.start()
    await owner.caller.getOrCreate('acme')
    await owner.stop()
    await sql(`grant select on all tables in schema public to ${role}`)
    await assertRefused('The user in DATABASE_URL may not write to the database\\.', 'owner of the database, or grant')
    const ended = await runCommand(asGuest, 'user-group', 'update', 'acme', '--name', 'Acme')
    assertRefusal(ended, /The database refuses: permission denied for table/, /owner of the database, or grant/)
  })

  it('may run the service where nothing is left to migrate', async () => {
    await sql(`grant select, insert, update, delete on all tables in schema public to ${role}`)
    const { caller, stop } = await premises.start(asGuest)
    const { body } = await caller.getOrCreate('other')
    assert.equal((await caller.rotate(body.user_group.token)).status, 200)
    assert.equal(await stop(), 0)
    assert.equal((await runCommand(asGuest, 'doctor')).code, 0)
  })

  it('is told when the database is read-only', async () => {
    await sql(`alter role ${role} set default_transaction_read_only = on`)
    await assertRefused('The database is read-only\\.', 'default_transaction_read_only')
  })
})
