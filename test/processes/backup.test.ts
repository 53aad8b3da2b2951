import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import type { Caller } from '../support/caller.ts'
import { type Ended, runCommand, startCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Load, type TrackedGroup } from '../support/load.ts'
import { Premises } from '../support/premises.ts'
import { prepare } from '../support/prepare.ts'
import { rawSql, sqlitePath } from '../support/raw-database.ts'
import { assertRefusal } from '../support/refusal.ts'
import type { Environment } from '../support/service-process.ts'
import { times } from '../support/times.ts'

const [sqlite, postgres] = engines
assert.ok(sqlite && postgres)

describe('ugs backup', () => {
  it('copies a database under write load, with every group acknowledged before it began', async (t) => {
    const premises = await Premises.open(t, sqlite)
    const folder = premises.database.folder as string
    const copy = join(folder, 'copy.db')
    const service = await premises.start()
    const quiet = await createQuiet(service.caller)
    await fillUp(premises.environment)
    const load = new Load(service.caller, 'busy')
    await eventually('the load runs', () => load.acknowledged > 100)
    const before = load.groups.filter(({ token }) => token !== undefined).map((group) => structuredClone(group))
    const endWrites = await writeEveryMillisecond(sqlitePath(premises.environment))
    const backup = startCommand(premises.environment, 'backup', copy)
    const impatience = setTimeout(() => backup.process.kill('SIGKILL'), 30_000)
    const ended = await backup.ended
    clearTimeout(impatience)
    await endWrites()
    await load.end()
    assert.equal(ended.code, 0, ended.stderr || 'it was still not done after half a minute')
    assert.deepEqual(load.failures, [], 'the service did not notice')
    assert.match(ended.stdout, /master key/, 'it reminds of what the copy is worth nothing without')
    assert.equal(statSync(copy).mode & 0o777, 0o600)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('copy')),
      ['copy.db'],
    )
    assertSound(copy)

    const place = join(folder, 'restored')
    mkdirSync(place)
    renameSync(copy, join(place, 'test.db'))
    const restored = await premises.start({ DATABASE_URL: `sqlite:${join(place, 'test.db')}` })
    const found = await Promise.all([...quiet.keys()].map((id) => restored.caller.getOrCreate(id)))
    assert.deepEqual(new Map(found.map(({ body }) => [body.user_group.provided_id, body.user_group.token])), quiet)
    await Promise.all(before.map((group) => assertInCopy(restored.caller, group, load.groups)))
  })

  it('copies the database of a service that was killed, with all it had acknowledged', async (t) => {
    const premises = await Premises.open(t, sqlite)
    const folder = premises.database.folder as string
    const service = await premises.start()
    const made = await service.caller.getOrCreate('acme')
    await service.stop('SIGKILL')
    const copy = join(folder, 'copy.db')
    assert.equal((await runCommand(premises.environment, 'backup', copy)).code, 0)
    assertSound(copy)
    const restored = await premises.start({ DATABASE_URL: `sqlite:${copy}` })
    assert.deepEqual((await restored.caller.getOrCreate('acme')).body, { ...made.body, new_user_group: false })
  })

  it('refuses to overwrite a file, also one that another backup just makes, to write where it cannot, and to copy what is not there', async (t) => {
    const premises = await Premises.open(t, sqlite)
    const folder = premises.database.folder as string
    const backup = (file: string): Promise<Ended> => runCommand(premises.environment, 'backup', join(folder, file))
    assertRefusal(await backup('copy.db'), /There is no database at .*test\.db/, /DATABASE_URL/)
    assert.deepEqual(readdirSync(folder), [])
    await prepare(premises)
    writeFileSync(join(folder, 'copy.db'), 'the only copy of last year')
    assertRefusal(await backup('copy.db'), /copy\.db exists already/, /another name/)
    assert.equal(readFileSync(join(folder, 'copy.db'), 'utf8'), 'the only copy of last year')
    assertRefusal(await backup('nowhere/copy.db'), /The backup failed/, /folder/)
    assert.ok(!existsSync(join(folder, 'nowhere')))

    const others = join(folder, 'of-others')
    writeFileSync(others, '')
    symlinkSync(others, join(folder, 'new.db.part'))
    const ended = await Promise.all([backup('new.db'), backup('new.db')])
    const [made = assert.fail(), refused = assert.fail()] = ended.toSorted(
      (one, other) => Number(one.code) - Number(other.code),
    )
    assert.equal(made.code, 0, made.stderr)
    assertRefusal(refused, /new\.db exists already/, /another name/)
    assert.equal(statSync(others).size, 0, 'nothing is written through what others have put in its way')
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('new')),
      ['new.db', 'new.db.part'],
    )
    assertSound(join(folder, 'new.db'))
  })

  it('refuses PostgreSQL, and names the tool for it', async (t) => {
    const premises = await Premises.open(t, postgres)
    const file = join('/nowhere', 'copy.db')
    assertRefusal(await runCommand(premises.environment, 'backup', file), /SQLite databases only/, /pg_dump/)
  })
})

async function createQuiet(caller: Caller): Promise<Map<string, string>> {
  const answers = await Promise.all(times(100, (i) => caller.getOrCreate(`quiet ${i}`)))
  return new Map(answers.map(({ body }) => [body.user_group.provided_id, body.user_group.token]))
}

/** 160 MB more: a copy that is taken in steps takes many, and the service writes between them. */
async function fillUp(environment: Environment): Promise<void> {
  await rawSql(environment, 'create table filling (bytes blob)')
  const numbers = 'with recursive number (n) as (select 1 union all select n + 1 from number where n < 160)'
  await rawSql(environment, `insert into filling ${numbers} select zeroblob(1000000) from number`)
  // Or else the next writers spend their time on moving it, and the copy is done meanwhile.
  await rawSql(environment, 'pragma wal_checkpoint(truncate)')
}

/** A thread of its own writes every millisecond, so that none of the copy's steps passes without a write. */
async function writeEveryMillisecond(path: string): Promise<() => Promise<unknown>> {
  const writer = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads')
    const connection = new (require('node:sqlite').DatabaseSync)(workerData, { timeout: 5000 })
    connection.exec('pragma synchronous = off; create table tick (n integer); insert into tick values (0)')
    const tick = connection.prepare('update tick set n = n + 1')
    // Not to stand in a queue with the service: while that writes, nobody else needs to.
    connection.exec('pragma busy_timeout = 0')
    setInterval(() => { try { tick.run() } catch {} }, 1)
    parentPort.postMessage('ready')`,
    { eval: true, workerData: path },
  )
  await once(writer, 'message')
  return () => writer.terminate()
}

function assertSound(path: string): void {
  const copy = new DatabaseSync(path, { readOnly: true })
  try {
    assert.deepEqual(copy.prepare('pragma integrity_check').all().map(Object.values), [['ok']])
    assert.deepEqual(copy.prepare('pragma foreign_key_check').all(), [])
  } finally {
    copy.close()
  }
}

/** With the token it had when the backup began, or one it got while the backup ran. */
async function assertInCopy(caller: Caller, group: TrackedGroup, later: readonly TrackedGroup[]): Promise<void> {
  const { body } = await caller.getOrCreate(group.id)
  assert.equal(body.new_user_group, false, `${group.id} is missing from the copy`)
  const now = later.find(({ id }) => id === group.id)
  const allowed = [group.token, ...(now?.former ?? []).slice(group.former.length), now?.token]
  assert.ok(allowed.includes(body.user_group.token), `${group.id} has a token it never had then`)
}
