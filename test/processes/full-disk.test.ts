import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runCommand, startReading } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { assertRefusal } from '../support/refusal.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail()] = engines

describe('a ugs command on a SQLite database whose disk is full', () => {
  let disk: string
  let isMounted: boolean
  before(() => {
    disk = mkdtempSync(join(tmpdir(), 'ugs-full-'))
    isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=5m', 'tmpfs', disk]).status === 0
  })
  after(() => {
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
})
