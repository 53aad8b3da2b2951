import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { sqlitePath } from '../support/raw-database.ts'
import { noon, storeOn } from '../support/store.ts'

const [sqlite = assert.fail()] = engines

const holdLock = `
  const database = new (require('node:sqlite').DatabaseSync)(process.argv[1], { timeout: 5000 })
  database.exec('begin immediate')
  require('node:fs').writeSync(1, 'locked')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  database.exec('commit')`

describe('while another process writes to a SQLite database', () => {
  const on = storeOn(sqlite)

  async function meanwhile(write: () => Promise<unknown>): Promise<void> {
    const other = spawn(process.execPath, ['-e', holdLock, sqlitePath(on.database.environment)])
    const ended = once(other, 'exit')
    await Promise.race([once(other.stdout, 'data'), ended])
    try {
      await write()
    } finally {
      assert.deepEqual(await ended, [0, null])
    }
  }

  it('a write waits', async () => {
    const team = await on.newTeam()
    await meanwhile(() => team.make('acme'))
  })

  it('what must be alone waits too', () => meanwhile(() => on.service.store.teams.create('Another', noon)))
})
