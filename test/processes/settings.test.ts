import assert from 'node:assert/strict'
import { execSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { engines, newMasterKey } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal, failingStart } from '../support/refusal.ts'
import { startService, ugs } from '../support/service-process.ts'

// What has nothing to do with the engine, and the files of SQLite.
describe('a start refuses', { concurrency: 2 }, () => {
  const key = newMasterKey()
  const taken = createServer()
  let folder: string
  let takenPort: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'ugs-settings-'))
    await once(taken.listen(0, '127.0.0.1'), 'listening')
    takenPort = String((taken.address() as AddressInfo).port)
  })
  after(() => {
    taken.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const settings = (name: string) => ({ DATABASE_URL: `sqlite:${join(folder, name)}`, UGS_MASTER_KEY: key })
  /** With the master key where it is looked for by default, which is nowhere. */
  const keyless = (name: string) => ({ ...settings(name), UGS_MASTER_KEY: undefined })

  it('bad settings, all at once and with a suggestion for each near miss', async () => {
    const ended = await failingStart({
      ...settings('bad.db'),
      PORT: '80a',
      UGS_MASTER_KEY: `${key.slice(0, 20)},${key}`,
      UGS_API_TOKEN: 'too short',
      UGS_WORKERS: '0',
      UGS_LOG_LEVEL: 'loud',
      UGS_RATE_LIMT: '5',
      UGS_SOMETHING_ELSE: 'x',
    })
    const lines = ended.stderr.trimEnd().split('\n')
    assert.equal(ended.code, 1)
    assert.equal(lines.length, 9, ended.stderr)
    assert.equal(lines[0], 'ugs: The settings have 7 problems:')
    for (const name of ['PORT', 'UGS_MASTER_KEY', 'UGS_API_TOKEN', 'UGS_WORKERS', 'UGS_LOG_LEVEL'])
      assert.match(ended.stderr, new RegExp(`^  ${name}: .+`, 'm'))
    assert.match(ended.stderr, /^ {2}UGS_RATE_LIMT: unknown setting \(did you mean UGS_RATE_LIMIT\?\)$/m)
    assert.match(ended.stderr, /^ {2}UGS_SOMETHING_ELSE: unknown setting$/m)
    assert.match(lines.at(-1) ?? '', /docs\/configuration\.md/)
    assertQuiet(ended, [key, key.slice(0, 20), 'too short'])
  })

  it('a port in use, saying so once for all its workers', async () => {
    const ended = await failingStart({ ...settings('workers.db'), PORT: takenPort, UGS_WORKERS: '3' })
    assertRefusal(ended, new RegExp(`port ${takenPort} \\(EADDRINUSE\\)`), /set PORT/, [key])
  })

  it('a metrics port in use', async () => {
    const more = { UGS_METRICS_PORT: takenPort, UGS_LOG_LEVEL: 'silent' }
    const ended = await failingStart({ ...settings('metrics.db'), ...more })
    assertRefusal(ended, new RegExp(`port ${takenPort}`), /UGS_METRICS_PORT/, [key])
  })

  it('both a key and a key file', async () => {
    const ended = await failingStart({ ...settings('both.db'), UGS_MASTER_KEY_FILE: '/nowhere/master.key' })
    assert.equal(ended.code, 1)
    assert.match(ended.stderr, /either this or UGS_MASTER_KEY_FILE/)
    assertQuiet(ended, [key])
  })

  it('a key file that is not there, or empty, and says how to make a key for a new database', async () => {
    const startWith = (UGS_MASTER_KEY_FILE: string) => failingStart({ ...keyless('file.db'), UGS_MASTER_KEY_FILE })
    const remedy = /UGS_MASTER_KEY_FILE.+new database.+: node -p .+$/
    assertRefusal(await startWith('/nowhere/master.key'), /\/nowhere\/master\.key does not exist/, remedy)
    const path = join(folder, 'empty.key')
    writeFileSync(path, '')
    const ended = await startWith(path)
    assertRefusal(ended, /empty\.key is damaged/, /backup.+new database.+: node -p .+$/)
    const [, command = ''] = /: (node -p .+)$/m.exec(ended.stderr) ?? []
    writeFileSync(path, execSync(command))
    await (await startService({ ...keyless('file.db'), UGS_MASTER_KEY_FILE: path })).stop()
  })

  it('a file that is not a database, and leaves it alone', async () => {
    const text = 'Dear customer, '.repeat(400)
    writeFileSync(join(folder, 'letter.db'), text)
    const sentence = /letter\.db cannot be opened: file is not a database/
    for (const given of [settings('letter.db'), keyless('letter.db')])
      assertRefusal(await failingStart(given), sentence, /DATABASE_URL/, [key])
    assert.equal(readFileSync(join(folder, 'letter.db'), 'utf8'), text)
  })

  it('the database of another program, and leaves it alone', async () => {
    const path = join(folder, 'other.db')
    await rawSql(settings('other.db'), 'create table user_group (id integer primary key)')
    const before = readFileSync(path)
    const sentence = /other\.db cannot be opened: it is the database of another program/
    for (const given of [settings('other.db'), keyless('other.db')])
      assertRefusal(await failingStart(given), sentence, /DATABASE_URL/, [key])
    assert.deepEqual(readFileSync(path), before)
  })

  it('a damaged database, in which doctor finds the damage too', async () => {
    await (await startService(settings('damaged.db'))).stop()
    const path = join(folder, 'damaged.db')
    const [table] = await rawSql(settings('damaged.db'), `select rootpage from sqlite_schema where name = 'event'`)
    const end = Number(table?.rootpage) * 4096
    writeFileSync(path, readFileSync(path).fill(0, end - 4096, end))
    const ended = await failingStart(settings('damaged.db'))
    assertRefusal(ended, /damaged\.db is damaged: Tree \d+ page \d+/, /restore a backup/, [key])
    const examined = await ugs(settings('damaged.db'), 'doctor')
    assert.equal(examined.code, 1)
    assert.match(examined.stdout, /^BAD {2}database .+damaged\.db is damaged: Tree \d+ page \d+/m)
  })

  it('a place where neither a key nor a database can be made', async () => {
    writeFileSync(join(folder, 'a-file'), '')
    const there = settings(join('a-file', 'test.db'))
    assertRefusal(await failingStart(there), /test\.db cannot be opened: .*(ENOTDIR|EEXIST)/, /DATABASE_URL/, [key])
    const ended = await failingStart(keyless(join('a-file', 'test.db')))
    assertRefusal(ended, /master\.key cannot be (made|read)/, /UGS_MASTER_KEY|readable/, [key])
  })

  it('a folder that can never be made, instead of trying for ever', { skip: !existsSync('/proc') }, async () => {
    const there = { DATABASE_URL: 'sqlite:/proc/nowhere/test.db' }
    assertRefusal(await failingStart({ ...there, UGS_MASTER_KEY: key }), /cannot be opened: .+mkdir/, /DATABASE_URL/)
    assertRefusal(await failingStart(there), /master\.key cannot be made: .+mkdir/, /folder/)
  })

  it('a folder in the place of the database', async () => {
    mkdirSync(join(folder, 'folder.db'))
    for (const given of [settings('folder.db'), keyless('folder.db')])
      assertRefusal(await failingStart(given), /folder\.db cannot be opened/, /DATABASE_URL/, [key])
  })

  it('a database whose master.key is gone, or damaged, and makes no new one', async (t) => {
    const [sqlite] = engines
    assert.ok(sqlite)
    const premises = await Premises.open(t, sqlite, { UGS_MASTER_KEY: undefined })
    const keyFile = join(premises.database.folder as string, 'master.key')
    const service = await premises.start()
    const made = await service.caller.getOrCreate('acme')
    const good = readFileSync(keyFile, 'utf8').trim()
    cpSync(keyFile, `${keyFile}.kept`)
    rmSync(keyFile)
    assert.equal((await service.caller.getOrCreate('acme')).status, 200, 'the process that has read it goes on')
    assertRefusal(await failingStart(premises.environment), /master\.key does not exist, but the database/, /backup/)
    writeFileSync(keyFile, good.slice(0, 30))
    const damaged = await failingStart(premises.environment)
    assertRefusal(damaged, /master\.key is damaged/, /backup.+ opened\.$/, [good, good.slice(0, 30)])
    cpSync(`${keyFile}.kept`, keyFile)
    const restored = await premises.start()
    assert.deepEqual((await restored.caller.getOrCreate('acme')).body, { ...made.body, new_user_group: false })
  })
})
