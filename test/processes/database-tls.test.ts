import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Caller } from '../support/caller.ts'
import { lacksOpenssl, makeCertificate } from '../support/certificate.ts'
import { engines, newMasterKey } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { createPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'
import { startService } from '../support/service-process.ts'
import { times } from '../support/times.ts'

describe('sslmode=verify-full', { skip: lacksOpenssl() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-tls-'))
  let server: PostgresServer
  const masterKey = newMasterKey()
  const own = makeCertificate(folder, 'localhost')
  const strange = makeCertificate(folder, 'example.com')

  before(async () => {
    // The server may be another user, and takes a key that nobody else may read.
    chmodSync(folder, 0o755)
    if (process.getuid?.() === 0) chownSync(own.key, 65_534, 65_534)
    server = await createPostgres({ ssl: 'on', ssl_cert_file: own.certificate, ssl_key_file: own.key })
    await server.start()
  })
  after(async () => {
    await server.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const settings = (host: string, certificate: string, mode = 'verify-full') => ({
    DATABASE_URL: `${server.url.replace('127.0.0.1', host)}?sslmode=${mode}&sslrootcert=${certificate}`,
    UGS_MASTER_KEY: masterKey,
  })

  it('encrypts each of the ten connections at most, also those made after the server was gone', async () => {
    const service = await startService(settings('localhost', own.certificate))
    const caller = new Caller(service.url)
    try {
      await assertEncrypted(caller)
      await server.stop('immediate')
      const { status, headers } = await caller.getOrCreate('acme')
      assert.equal(status, 503)
      assert.match(String(headers['retry-after']), /^\d+$/)
      await server.start()
      await eventually('it has found the server again', async () => (await caller.getOrCreate('acme')).status === 200)
      await assertEncrypted(caller)
    } finally {
      await caller.close()
      await service.stop()
    }
  })

  const assertEncrypted = async (caller: Caller): Promise<void> => {
    const answers = await Promise.all(times(50, (index) => caller.getOrCreate(`group ${index}`)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    const connections = await rawSql(
      { DATABASE_URL: server.url },
      `select ssl from pg_stat_ssl join pg_stat_activity using (pid)
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    )
    assert.ok(connections.length > 0 && connections.length <= 10, `${connections.length} connections`)
    assert.ok(connections.every(({ ssl }) => ssl === true))
  }

  it('refuses a server whose certificate nobody trusts, or that was made for another name', async () => {
    for (const [host, certificate, remedy] of [
      ['localhost', strange.certificate, /DATABASE_URL, as .*sslrootcert=PATH/],
      ['127.0.0.1', own.certificate, /DATABASE_URL/],
    ] as const)
      assertRefusal(await failingStart(settings(host, certificate)), /certificate/, remedy)
  })

  it('is what the weaker modes mean too, without a warning of the driver', async () => {
    for (const mode of ['require', 'prefer', 'verify-ca']) {
      const service = await startService(settings('localhost', own.certificate, mode))
      await service.stop()
      assert.doesNotMatch(service.output().stderr, /warning/i)
      const ended = await failingStart(settings('127.0.0.1', own.certificate, mode))
      assertRefusal(ended, /certificate/, /DATABASE_URL/)
    }
  })

  it('refuses a server without TLS instead of going on in the clear', async (t) => {
    const engine = engines.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine)
    const { environment, remove } = await engine.freshDatabase()
    t.after(remove)
    const ended = await failingStart({
      ...environment,
      DATABASE_URL: `${environment.DATABASE_URL}?sslmode=verify-full`,
    })
    assertRefusal(ended, /SSL|TLS/, /DATABASE_URL/)
  })
})
