import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { engines } from '../support/engines.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { sqlitePath } from '../support/raw-database.ts'
import { noon, storeOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail(), postgres = assert.fail()] = engines

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

describe('while somebody reads an old state of a SQLite database', () => {
  const on = storeOn(sqlite)

  it('its log grows, and gives its room back behind that', async () => {
    const team = await on.newTeam()
    const path = sqlitePath(on.database.environment)
    const sizeOfLog = () => statSync(`${path}-wal`).size / 2 ** 20
    const reader = new DatabaseSync(path, { readOnly: true })
    reader.exec('begin')
    reader.prepare('select count(*) from user_group').get()
    const properties = JSON.stringify({ large: 'x'.repeat(60_000) })
    for (let made = 0; sizeOfLog() < 40; made += 100)
      await Promise.all(times(100, (index) => team.make(`group ${made + index}`, { properties })))
    reader.close()
    // One to bring what is in the log into the file, and one to begin it anew.
    for (const id of ['one', 'other']) await team.make(id)
    assert.ok(sizeOfLog() <= 32, `${sizeOfLog()} MB`)
  })
})

describe('while another transaction holds a user group on PostgreSQL', () => {
  const on = storeOn(postgres)

  async function meanwhile(hold: string, act: () => Promise<unknown>): Promise<void> {
    const other = new pg.Client({ connectionString: on.database.environment.DATABASE_URL })
    await other.connect()
    try {
      await other.query('begin')
      await other.query(hold)
      await act()
    } finally {
      await other.end()
    }
  }

  it('a rename to its id is refused at once: two that take the id of each other would wait for each other', async () => {
    const team = await on.newTeam()
    await team.make('one')
    await team.make('other')
    await meanwhile(`update user_group set name = 'held' where provided_id = 'other'`, async () => {
      const renamed = team.userGroups.update('one', { providedId: 'other' }, noon)
      const waited = pause(5_000, undefined, { ref: false })
      await assert.rejects(Promise.race([renamed, waited]), { code: 'conflict', field: 'provided_id' })
    })
  })

  it('changes of it wait, however many, and leave connections to those who only read', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('held by another')
    let changes: Promise<unknown> | undefined
    await meanwhile(`select from user_group where provided_id = 'held by another' for update`, async () => {
      changes = Promise.all(times(20, (index) => team.userGroups.update('held by another', { name: `${index}` }, noon)))
      await lockWaits(on, 8)
      const verified = await Promise.race([team.verify(token), pause(3_000, undefined, { ref: false })])
      assert.equal(verified?.group.providedId, 'held by another')
    })
    await changes
  })

  it('a rotation of its token waits, and what waited together with it goes on', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('held')
    let rotation: Promise<unknown> | undefined
    await meanwhile(`select from user_group where provided_id = 'held' for update`, async () => {
      rotation = team.rotate(token)
      const others = Promise.all(times(5, (index) => team.make(`group ${index}`)))
      const waited = pause(5_000, 'waited', { ref: false })
      assert.notEqual(await Promise.race([others, rotation, waited]), 'waited')
      assert.equal((await team.userGroups.list({ after: 0, limit: 200 })).items.length, 6)
    })
    await rotation
  })
})
