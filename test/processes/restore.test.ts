import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { watch } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { runCommand, startCommand } from '../support/command.ts'
import { engines, newMasterKey } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql, sqlitePath } from '../support/raw-database.ts'
import { assertRefusal } from '../support/refusal.ts'
import type { Environment } from '../support/service-process.ts'

const [sqlite, postgres] = engines
assert.ok(sqlite && postgres)

/** A database with one group, a copy of it, and then one group more; without a test, it is for the suite to close. */
async function withCopy(t?: TestContext) {
  const premises = await Premises.open(t, sqlite as NonNullable<typeof sqlite>)
  const service = await premises.start()
  const { token } = (await service.caller.getOrCreate('acme')).body.user_group
  const places = placesOn(premises)
  assert.equal((await runCommand(premises.environment, 'backup', places.copy)).code, 0)
  await service.caller.getOrCreate('after the copy')
  return { ...places, service, token }
}

function placesOn(premises: Premises) {
  const folder = premises.database.folder as string
  const copy = join(folder, 'copy.db')
  const restore = (file = copy, settings: Environment = {}, ...more: string[]) =>
    runCommand({ ...premises.environment, ...settings }, 'restore', file, '--json', ...more)
  return { premises, folder, path: sqlitePath(premises.environment), copy, restore }
}

describe('ugs restore', () => {
  let made: Premises
  before(async () => {
    const { premises, service } = await withCopy()
    made = premises
    await service.stop()
  })
  after(() => made.close())

  /** The same with the service stopped: files of its own for each test, made once for all of them. */
  const withCopyAtRest = async (t: TestContext) => {
    const { UGS_MASTER_KEY } = made.environment
    const premises = await Premises.open(t, sqlite, { UGS_MASTER_KEY })
    cpSync(made.database.folder as string, premises.database.folder as string, { recursive: true })
    return placesOn(premises)
  }

  it('puts the copy in its place, and keeps what was there', async (t) => {
    const { premises, service, folder, path, copy, token, restore } = await withCopy(t)
    await service.stop('SIGKILL')
    assert.ok(existsSync(`${path}-wal`), 'a part of the database is in its WAL')
    renameSync(copy, `${path}.part`)
    const ended = await restore(`${path}.part`, {}, '--force')
    assert.equal(ended.code, 0, ended.stderr)
    const { database, kept } = JSON.parse(ended.stdout)
    assert.equal(database, path)
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(folder).filter((name) => /part|wal|shm/.test(name)),
      ['test.db.part'],
      'the copy stays where it is, whatever its name',
    )
    const { caller } = await premises.start()
    assert.equal((await caller.getOrCreate('acme')).body.user_group.token, token)
    const later = async (url: string) =>
      (await rawSql({ DATABASE_URL: url }, "select 1 from user_group where provided_id = 'after the copy'")).length
    assert.equal(await later(`sqlite:${path}`), 0)
    assert.equal(await later(`sqlite:${kept}`), 1, 'nothing is lost of what was there, not even from its WAL')
  })

  it('makes a database where there is none, beside whatever was left of another', async (t) => {
    const { premises, service, folder, path, copy, restore } = await withCopy(t)
    await service.caller.rotate((await service.caller.getOrCreate('acme')).body.user_group.token)
    const place = join(folder, 'elsewhere.db')
    copyFileSync(`${path}-wal`, `${place}-wal`)
    const settings = { DATABASE_URL: `sqlite:${place}` }
    const ended = await restore(copy, settings)
    assert.equal(ended.code, 0, ended.stderr)
    const { database, kept } = JSON.parse(ended.stdout)
    assert.deepEqual([database, existsSync(kept), existsSync(`${place}-wal`)], [place, true, false])
    const { caller } = await premises.start(settings)
    assert.equal(
      (await caller.getOrCreate('after the copy')).body.new_user_group,
      true,
      'the stray WAL was not taken in',
    )
  })

  it('replaces a database that is damaged beyond opening', async (t) => {
    const { premises, path, restore } = await withCopyAtRest(t)
    writeFileSync(path, 'nothing of it is left'.repeat(1_000))
    assert.equal((await restore(undefined, {}, '--force')).code, 0)
    assert.equal((await (await premises.start()).caller.getOrCreate('acme')).body.new_user_group, false)
  })

  // The draft may be there for a few milliseconds only: the file system says when, nobody asks it over and over.
  for (const [moment, delay] of [
    ['begins', 0],
    ['is at it', 10],
    ['may be about to end', 30],
  ] as const)
    it(`can be killed as it ${moment}: the database is the old one or the new one`, async (t) => {
      const { premises, folder, path, restore, copy } = await withCopyAtRest(t)
      const names = watch(folder, { signal: AbortSignal.timeout(60_000) })
      const killed = startCommand(premises.environment, 'restore', copy, '--force')
      for await (const { filename } of names) if (filename?.endsWith('.part')) break
      await pause(delay)
      killed.process.kill('SIGKILL')
      await killed.ended
      assert.ok(existsSync(path), 'doctor finds no fault with a database that is not there')
      const groups = await rawSql(premises.environment, 'select provided_id from user_group order by id')
      assert.match(groups.map(({ provided_id }) => provided_id).join(), /^acme(,after the copy)?$/)
      assert.equal((await runCommand(premises.environment, 'doctor')).code, 0)
      assert.equal((await restore(undefined, {}, '--force')).code, 0, 'and it can be run again')
    })

  it('refuses a database in use, and one that is there unless it is forced', async (t) => {
    const { service, restore } = await withCopy(t)
    assertRefusal(await restore(), /There is a database at .*test\.db already/, /--force/)
    assertRefusal(await restore(undefined, {}, '--force'), /is in use/, /Stop the service/)
    assert.equal((await service.caller.getOrCreate('after the copy')).body.new_user_group, false)
  })

  for (const [name, spoil, sentence] of [
    ['cut short', (copy: string) => truncateSync(copy, statSync(copy).size - 4096), /copy\.db is damaged: /],
    [
      'no database',
      (copy: string) => writeFileSync(copy, 'not one'.repeat(1_000)),
      /copy\.db is damaged: .*not a database/,
    ],
    ['overwritten in the middle', overwriteMiddle, /copy\.db is damaged: /],
    ['empty', (copy: string) => truncateSync(copy, 0), /copy\.db is no database of this service/],
    ['copied without its WAL', (copy: string) => writeFileSync(`${copy}-wal`, 'x'), /copy\.db-wal/],
  ] as const)
    it(`refuses a copy that is ${name}, and leaves everything as it was`, async (t) => {
      const { premises, folder, path, copy, restore } = await withCopyAtRest(t)
      spoil(copy)
      const before = readFileSync(path)
      assertRefusal(await restore(undefined, {}, '--force'), sentence, /copy/)
      assert.deepEqual(readFileSync(path), before)
      assert.deepEqual(
        readdirSync(folder).filter((name) => /part/.test(name)),
        [],
      )
      assert.equal((await runCommand(premises.environment, 'doctor')).code, 0)
    })

  it('refuses a copy that the master key does not open, and makes no key', async (t) => {
    const { premises, folder, path, copy, restore } = await withCopy(t)
    const elsewhere = { DATABASE_URL: `sqlite:${join(folder, 'new.db')}` }
    const key = newMasterKey()
    const wrong = await restore(copy, { ...elsewhere, UGS_MASTER_KEY: key })
    assertRefusal(wrong, /sealed under master key/, /UGS_MASTER_KEY/, [
      key,
      premises.environment.UGS_MASTER_KEY as string,
    ])
    const missing = await restore(copy, { ...elsewhere, UGS_MASTER_KEY: undefined })
    assertRefusal(missing, /master\.key does not exist/, /belongs to the copy/)
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.startsWith('test.db')),
      ['copy.db'],
    )
    assert.ok(existsSync(path))
  })

  it('refuses a copy of a newer version, of another program, a file that is not there, and PostgreSQL', async (t) => {
    const { folder, copy, restore } = await withCopy(t)
    const elsewhere = { DATABASE_URL: `sqlite:${join(folder, 'new.db')}` }
    await rawSql({ DATABASE_URL: `sqlite:${copy}` }, 'insert into schema_version (version, applied_at) values (999, 0)')
    assertRefusal(await restore(copy, elsewhere), /schema version 999, newer/, /newer version/)
    const foreign = join(folder, 'foreign.db')
    await rawSql({ DATABASE_URL: `sqlite:${foreign}` }, 'create table theirs (id integer)')
    assertRefusal(await restore(foreign, elsewhere), /foreign\.db is no database of this service/, /name of the copy/)
    assertRefusal(await restore(join(folder, 'nothing.db'), elsewhere), /There is no file .*nothing\.db/, /name/)
    assertRefusal(await restore(folder, elsewhere), / is a folder/, /Name the copy/)
    const premises = await Premises.open(t, postgres)
    assertRefusal(await restore(copy, premises.environment), /SQLite databases/, /pg_restore/)
  })
})

function overwriteMiddle(copy: string): void {
  const bytes = readFileSync(copy)
  bytes.fill(0xff, bytes.length / 2, bytes.length / 2 + 8192)
  writeFileSync(copy, bytes)
}
