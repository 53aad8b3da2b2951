import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { accepts } from '../support/accepts.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/postgres-server.ts'
import { Premises } from '../support/premises.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines
const isMissing = spawnSync('pgbouncer', ['--version']).status !== 0 && 'pgbouncer is not installed'

describe('through PgBouncer the service', { skip: isMissing }, () => {
  it('works where each session has a connection of its own', async (t) => {
    const premises = await Premises.open(t, postgres)
    const { caller } = await premises.start({ DATABASE_URL: await through(t, 'session', premises) })
    const made = await Promise.all(times(50, (index) => caller.getOrCreate(`group ${index}`)))
    const rotated = await Promise.all(made.map(({ body }) => caller.rotate(body.user_group.token)))
    const verified = await Promise.all(rotated.map(({ body }) => caller.verify(body.user_group.token)))
    assert.deepEqual(
      verified.map(({ body }) => body.user_group.provided_id),
      times(50, (index) => `group ${index}`),
    )
  })

  it('does not start where each transaction may have another, and says what to do', async (t) => {
    const premises = await Premises.open(t, postgres)
    const ended = await failingStart({
      ...premises.environment,
      DATABASE_URL: await through(t, 'transaction', premises),
    })
    assertRefusal(ended, /forgets what a connection has prepared/, /pool_mode = session/)
  })
})

/** The URL of the same database through a pooler in front of it. */
async function through(t: TestContext, mode: 'session' | 'transaction', { environment }: Premises): Promise<string> {
  const url = new URL(environment.DATABASE_URL ?? '')
  const folder = mkdtempSync(join(tmpdir(), 'ugs-pgbouncer-'))
  const settings = join(folder, 'settings.ini')
  const port = await freePort()
  writeFileSync(
    settings,
    `[databases]
* = host=${url.hostname} port=${url.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
auth_type = any
pool_mode = ${mode}
ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout
unix_socket_dir =
`,
  )
  const pooler = spawn('pgbouncer', ['--quiet', ...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), settings])
  t.after(async () => {
    const exit = once(pooler, 'exit')
    pooler.kill('SIGKILL')
    await exit
    rmSync(folder, { recursive: true })
  })
  await eventually('PgBouncer takes connections', () => accepts(port))
  url.port = String(port)
  return url.href
}
