import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Caller } from '../support/caller.ts'
import { newMasterKey } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createPostgres, freePort, type PostgresServer } from '../support/postgres-server.ts'
import { standbyOf } from '../support/postgres-standby.ts'
import { rawCount, rawSql } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal, failingStart } from '../support/refusal.ts'
import { type ServiceProcess, startService, ugs } from '../support/service-process.ts'
import { times } from '../support/times.ts'

const password = 'pa55word'

function urlOf(servers: readonly { url: string }[], parameters = 'target_session_attrs=read-write'): string {
  const hosts = servers.map(({ url }) => new URL(url).host).join()
  return `postgres://postgres:${password}@${hosts}/postgres?${parameters}`
}

describe('a DATABASE_URL that names several PostgreSQL servers', () => {
  const UGS_MASTER_KEY = newMasterKey()
  let primary: PostgresServer
  let standby: PostgresServer
  let nobody: { url: string }
  let service: ServiceProcess
  let caller: Caller
  const ours = ({ url }: PostgresServer) =>
    rawCount({ DATABASE_URL: url }, `pg_stat_activity where application_name = 'user-group-service'`)

  before(async () => {
    primary = await createPostgres()
    await primary.start()
    standby = await standbyOf(primary)
    await standby.start()
    nobody = { url: `postgres://127.0.0.1:${await freePort()}/` }
    service = await startService({ DATABASE_URL: urlOf([nobody, standby, primary]), UGS_MASTER_KEY })
    caller = new Caller(service.url)
  })
  after(async () => {
    await caller.close()
    await service.stop('SIGKILL')
    await standby.remove()
    await primary.remove()
  })

  it('leads to the one that takes writes, past one that is down and one that is read-only', async () => {
    assert.equal((await caller.getOrCreate('acme')).body.new_user_group, true)
    assert.equal(await ours(standby), 0)
    assert.ok((await ours(primary)) > 0)
  })

  it('without target_session_attrs leads to the first that answers', async () => {
    const reading = { DATABASE_URL: urlOf([nobody, standby, primary], ''), UGS_MASTER_KEY }
    assert.match((await ugs(reading, 'team', 'list')).stdout, /First team/)
    assert.match((await ugs(reading, 'doctor')).stdout, /^BAD {2}database +The database is read-only\./m)
    assertRefusal(await failingStart(reading), /read-only/, /the server that takes writes/, [password])
  })

  it('is refused when none of them takes writes, with the reason of each and without the password', async () => {
    const settings = { DATABASE_URL: urlOf([nobody, standby]), UGS_MASTER_KEY }
    const reasons = /cannot be reached: 127\.0\.0\.1:\d+ .*ECONNREFUSED.*; 127\.0\.0\.1:\d+ is read-only\./
    assertRefusal(await failingStart(settings), reasons, /DATABASE_URL/, [password, UGS_MASTER_KEY])
    const examined = await ugs(settings, 'doctor')
    assert.match(examined.stdout, reasons)
    assertQuiet(examined, [password, UGS_MASTER_KEY])
  })

  it('leads away from a server that becomes read-only, and leaves it no connection', async () => {
    const lookUp = async () => assert.notEqual((await caller.getOrCreate('acme')).body.new_user_group, true)
    // One connection may be quick enough for all of them.
    await eventually('it has several connections', async () => {
      await Promise.all(times(20, lookUp))
      return (await ours(primary)) > 1
    })
    await rawSql({ DATABASE_URL: primary.url }, 'alter system set default_transaction_read_only = on')
    await rawSql({ DATABASE_URL: primary.url }, 'select pg_reload_conf()')
    await rawSql({ DATABASE_URL: standby.url }, 'select pg_promote()')
    // Reading alone would never meet an error there.
    await eventually(
      'the connections are gone',
      async () => lookUp().then(async () => (await ours(primary)) === 0),
      5_000,
    )
    const created = async () => (await caller.getOrCreate('globex')).status === 200
    await eventually('the other server takes over', created, 5_000)
    assert.equal(await rawCount({ DATABASE_URL: standby.url }, 'user_group'), 2)
  })
})
