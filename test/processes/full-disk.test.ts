import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { readFixture } from '../../campaigns/fixture.ts'
import { runCommand, startReading } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { assertRefusal } from '../support/refusal.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail()] = engines

describe('a ugs command on a SQLite database whose disk is full', () => {
  let disk: string
  let isMounted: boolean
  beforeEach(() => {
    disk = mkdtempSync(join(tmpdir(), 'ugs-full-'))
    isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', disk]).status === 0
  })
  afterEach(() => {
    if (isMounted) spawnSync('umount', ['--lazy', disk])
    rmSync(disk, { recursive: true })
  })

  it('says to make room, works once there is some, and how far an import came', async (t) => {
    if (!isMounted) return t.skip('only root can mount a small disk')
    const premises = await Premises.open(t, sqlite, { DATABASE_URL: `sqlite:${join(disk, 'test.db')}` })
    const { caller } = await premises.start()
    await caller.getOrCreate('acme')
    const rename = () => runCommand(premises.environment, 'user-group', 'update', 'acme', '--name', 'Acme')
    const ballast = join(disk, 'ballast')
    assert.throws(() => {
      for (;;) appendFileSync(ballast, Buffer.alloc(4096))
    }, /ENOSPC/)
    assertRefusal(await rename(), /disk is full/, /Make room on the disk/)
    const { code, stdout } = await runCommand(premises.environment, 'doctor')
    assert.equal(code, 1)
    assert.match(
      stdout,
      new RegExp(`^BAD +database +The disk of ${disk} is nearly full: 0\\.0 MB are left\\.\n +Make room`, 'm'),
    )
    rmSync(ballast)
    assert.equal((await rename()).code, 0)
    const groups = times(20_000, (index) => `{"user_group_id":"group ${index}"}\n`).join('')
    const importing = await startReading(groups, premises.environment, 'user-group', 'import', '-').ended
    assertRefusal(importing, /disk is full/, /Make room on the disk.* \d+000 user groups created so far: run it again/)
  })

  it('puts no copy of an older version in place that it could not bring up to date', async (t) => {
    if (!isMounted) return t.skip('only root can mount a small disk')
    const { dump, record } = readFixture(5, sqlite)
    const settings = { DATABASE_URL: `sqlite:${join(disk, 'test.db')}`, UGS_MASTER_KEY: record.masterKey }
    const premises = await Premises.open(t, sqlite, settings)
    const copy = join(premises.database.folder as string, 'copy.db')
    const database = new DatabaseSync(copy)
    database.exec(dump)
    // The disk holds it, and the log of its migration, but not all that the log holds moved to the database as well.
    database.exec(`insert into user_group
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 8000)
      select 1e15 + n, team_id, 'more ' || n, 'more ' || n, randomblob(32), token_sealed, token_key, token_rotated_at,
        disabled, created_at, updated_at, mapping, properties
      from numbers, (select * from user_group limit 1)`)
    database.close()
    assertRefusal(await runCommand(premises.environment, 'restore', copy), /disk is full/, /Nothing was replaced/)
    assert.deepEqual(readdirSync(disk), [])
  })
})
