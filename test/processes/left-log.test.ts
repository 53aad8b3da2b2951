import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { sqlitePath } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'

const [sqlite = assert.fail()] = engines

const sentence = /test\.db is missing or empty, but a log of its changes, .*test\.db-wal, is there/
const remedy = /Put the file back/

/** The file was moved away under the service, which was then killed: the group is in the log alone. */
async function withLogAlone(t: TestContext) {
  const premises = await Premises.open(t, sqlite, { UGS_MASTER_KEY: undefined })
  const folder = premises.database.folder as string
  const path = sqlitePath(premises.environment)
  const service = await premises.start()
  const copy = join(folder, 'copy.db')
  assert.equal((await runCommand(premises.environment, 'backup', copy)).code, 0)
  const { token } = (await service.caller.getOrCreate('acme')).body.user_group
  renameSync(path, `${path}.away`)
  await service.stop('SIGKILL')
  const files = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'hex')])
  return { premises, folder, path, copy, token, files }
}

it('a SQLite database that may not be looked at is not taken for a missing one', async (t) => {
  const premises = await Premises.open(t, sqlite)
  const path = sqlitePath(premises.environment)
  // A user without rights is told EACCES; the one who runs this test may have all rights.
  symlinkSync(path, path)
  const refusal = /Whether there is a database cannot be seen: ELOOP/
  assertRefusal(await runCommand(premises.environment, 'team', 'list'), refusal, /as the user the service runs as/)
  const { code, stdout } = await runCommand(premises.environment, 'doctor')
  assert.deepEqual([code, /^BAD +database/m.test(stdout)], [1, true], stdout)
})

it('a SQLite database whose index is deleted is served no more, and keeps what others then commit', async (t) => {
  const premises = await Premises.open(t, sqlite)
  const service = await premises.start()
  const { token } = (await service.caller.getOrCreate('acme')).body.user_group
  rmSync(`${sqlitePath(premises.environment)}-shm`)
  assert.equal((await runCommand(premises.environment, 'team', 'create', 'Of another process')).code, 0)
  assert.equal((await service.caller.getOrCreate('acme')).status, 503)
  await service.stop()
  assert.match((await runCommand(premises.environment, 'team', 'list')).stdout, /Of another process/)
  assert.equal((await (await premises.start()).caller.getOrCreate('acme')).body.user_group.token, token)
})

describe('a SQLite database of which only the log is left', () => {
  it('is neither started nor worked on, and nothing of it is touched: put back, it is whole', async (t) => {
    const { premises, path, token, files } = await withLogAlone(t)
    const { environment } = premises
    const before = files()
    assertRefusal(await failingStart(environment), sentence, remedy)
    assertRefusal(await failingStart({ ...environment, UGS_WORKERS: '2' }), sentence, remedy)
    assertRefusal(await runCommand(environment, 'user-group', 'list'), sentence, remedy)
    assertRefusal(await runCommand(environment, 'backup', `${path}.copy`), sentence, remedy)
    const examined = await runCommand(environment, 'doctor')
    assert.equal(examined.code, 1)
    assert.match(examined.stdout, /^BAD {2}database .+test\.db-wal, is there\.\n +Put the file back/m)
    assert.deepEqual(files(), before)
    renameSync(`${path}.away`, path)
    assert.equal((await (await premises.start()).caller.getOrCreate('acme')).body.user_group.token, token)
  })

  it('gets no new master key', async (t) => {
    const { premises, folder } = await withLogAlone(t)
    const keyFile = join(folder, 'master.key')
    rmSync(keyFile)
    assertRefusal(await failingStart(premises.environment), sentence, remedy)
    assert.ok(!existsSync(keyFile))
  })

  it('is not begun anew in an empty file', async (t) => {
    const { premises, path, files } = await withLogAlone(t)
    writeFileSync(path, '')
    const before = files()
    assertRefusal(await failingStart(premises.environment), sentence, remedy)
    assert.deepEqual(files(), before)
  })

  it('gives way to a backup that is restored, which says where its log is kept', async (t) => {
    const { premises, path, copy } = await withLogAlone(t)
    const log = readFileSync(`${path}-wal`)
    const ended = await runCommand(premises.environment, 'restore', copy)
    const [, kept = assert.fail(ended.stderr)] = /^What was there before is now (.+)\.$/m.exec(ended.stdout) ?? []
    assert.deepEqual(readFileSync(kept), log)
    assert.equal((await (await premises.start()).caller.getOrCreate('acme')).body.new_user_group, true)
  })
})
