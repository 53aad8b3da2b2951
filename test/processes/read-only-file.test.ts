import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { startUnder } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql, sqlitePath } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'

const [sqlite = assert.fail()] = engines

// No mode keeps root from writing, so as root the tests let somebody else own the files and run the service.
const isRoot = process.getuid?.() === 0
const somebody = 65534
const asOwner = isRoot ? ['setpriv', `--reuid=${somebody}`, `--regid=${somebody}`, '--clear-groups'] : []
const canRun = !isRoot || (await canRunAsOwner())

async function canRunAsOwner(): Promise<boolean> {
  const { code } = await startUnder(asOwner, {}, '--version').ended.catch(() => ({ code: 1 }))
  return code === 0
}

/** A service that has answered ends in order, and leaves the file alone. */
async function startedOnce(t: TestContext) {
  const premises = await Premises.open(t, sqlite)
  const service = await premises.start()
  await service.caller.getOrCreate('acme')
  assert.equal(await service.stop(), 0)
  const folder = premises.database.folder as string
  const path = sqlitePath(premises.environment)
  if (isRoot) for (const file of [folder, path]) chownSync(file, somebody, somebody)
  return { environment: premises.environment, folder, path }
}

describe('a SQLite database that is read-only', { skip: !canRun }, () => {
  it('is not served, nor found in order by doctor, nor is its folder, and gets no files beside it that are read-only too', async (t) => {
    const { environment, folder, path } = await startedOnce(t)
    chmodSync(path, 0o444)
    assertRefusal(
      await failingStart({ ...environment, UGS_API_TOKEN: undefined }, asOwner),
      /test\.db is read-only/,
      /writable for the user/,
    )
    const examined = await startUnder(asOwner, environment, 'doctor').ended
    assert.match(examined.stdout, /^BAD {2}database +The file .+test\.db is read-only\./m)
    chmodSync(folder, 0o555)
    const elsewhere = { ...environment, DATABASE_URL: `sqlite:${folder}/new/test.db` }
    const misplaced = await startUnder(asOwner, elsewhere, 'doctor').ended
    assert.match(misplaced.stdout, /^BAD {2}database +The folder \/.+ is not writable\.\n +Make it writable/m)
    assert.ok(misplaced.stdout.includes(` ${folder} is`), 'the one that is there, not the new one in it')
    assert.equal(misplaced.code, 1)
    assert.deepEqual(readdirSync(folder), ['test.db'])
  })

  it('is not written by a command, which says what to do', async (t) => {
    const { environment, path } = await startedOnce(t)
    chmodSync(path, 0o444)
    const ended = await startUnder(asOwner, environment, 'user-group', 'update', 'acme', '--name', 'Acme').ended
    assertRefusal(ended, /readonly database/, /Make the file .+ writable/)
  })

  it('is copied by a backup all the same, unless a log is beside it, and then the backup names it, as a restore does a copy that it may not read', async (t) => {
    const { environment, folder, path } = await startedOnce(t)
    const elsewhere = mkdtempSync(join(tmpdir(), 'ugs-copies-'))
    t.after(() => rmSync(elsewhere, { recursive: true }))
    if (isRoot) chownSync(elsewhere, somebody, somebody)
    const backup = (copy: string) => startUnder(asOwner, environment, 'backup', join(elsewhere, copy)).ended
    chmodSync(path, 0o444)
    chmodSync(folder, 0o555)
    const made = await backup('copy.db')
    assert.equal(made.code, 0, made.stderr)
    const copied = await rawSql({ DATABASE_URL: `sqlite:${elsewhere}/copy.db` }, 'select provided_id from user_group')
    assert.deepEqual(copied.map(Object.values), [['acme']])
    chmodSync(join(elsewhere, 'copy.db'), 0)
    const restored = await startUnder(asOwner, environment, 'restore', join(elsewhere, 'copy.db'), '--force').ended
    assertRefusal(restored, /copy\.db cannot be read: EACCES/, /permissions/)
    chmodSync(folder, 0o755)
    writeFileSync(`${path}-wal`, 'changes')
    chmodSync(folder, 0o555)
    assertRefusal(await backup('another.db'), /The SQLite database .+test\.db cannot be opened/, /its -wal file/)
  })

  for (const end of ['-wal', '-shm'])
    it(`is not served because of its ${end} file, which the refusal names`, async (t) => {
      const { environment, path } = await startedOnce(t)
      writeFileSync(path + end, '')
      if (isRoot) chownSync(path + end, somebody, somebody)
      chmodSync(path + end, 0o444)
      const sentence = new RegExp(`test\\.db${end} is read-only`)
      assertRefusal(await failingStart(environment, asOwner), sentence, /writable for the user/)
    })
})
