import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import type { Caller } from '../support/caller.ts'
import { runCommand, startCommand } from '../support/command.ts'
import { type Engine, engines, newMasterKey } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Load } from '../support/load.ts'
import { Premises } from '../support/premises.ts'
import { prepare } from '../support/prepare.ts'
import { rawCount, rawSql } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'
import type { Environment } from '../support/service-process.ts'
import { times } from '../support/times.ts'

for (const engine of engines)
  describe(`changing the master key on ${engine.name}`, () => {
    it('fails no request while the service runs, and changes no token', async (t) => {
      const { premises, onlyNew, both } = await withTwoKeys(t, engine)
      const first = await premises.start()
      const tokens = await create(first.caller, 250)
      const busy = [...tokens].slice(100).map(([id, token]) => ({ id, token, former: [], pending: false }))
      await first.caller.call('POST', '/api/schemas', { json: { id: 'sales', name: 'Sales' } })
      const dataSource = { schema_id: 'sales', provided_id: 'acme-db', name: 'Acme DB', connection: { host: 'db' } }
      assert.equal((await first.caller.call('POST', '/api/data_sources', { json: dataSource })).status, 200)
      const made = await runCommand(premises.environment, 'api-token', 'create', 'made before', '--json')
      await first.stop()

      const second = await premises.start(both)
      // It also rotates groups whose tokens are being sealed anew.
      const load = new Load(second.caller, 'busy', busy)
      const rotated = await runCommand({ ...premises.environment, ...both }, 'keys', 'rotate', '--json')
      assert.equal(rotated.code, 0, rotated.stderr)
      const { key, resealed, retired } = JSON.parse(rotated.stdout)
      assert.ok(resealed >= 100, `${resealed}`)
      assert.equal(retired.length, 1, 'the old key is no longer needed')
      await load.end()
      assert.deepEqual(load.failures, [])
      for (const { id, token } of load.groups) tokens.set(id, token as string)
      await assertTokens(second.caller, tokens)
      assert.equal(await rawCount(premises.environment, `user_group where token_key <> '${key}'`), 0)
      assert.equal(await rawCount(premises.environment, `data_source where connection_key <> '${key}'`), 0)
      await second.stop()

      const third = await premises.start(onlyNew)
      await assertTokens(premises.call(third, JSON.parse(made.stdout).token), sample(tokens))
      assert.equal((await third.caller.call('GET', '/readyz')).status, 200)
    })

    it('can be killed in the middle, and finishes when it is run again', async (t) => {
      const { premises, onlyNew, both } = await withTwoKeys(t, engine)
      // Three batches of 500 at most: the one that is under way on PostgreSQL when it is killed is finished all the same.
      const groups = 1_100
      const service = await premises.start()
      const tokens = sample(await create(service.caller, groups))
      await slowDown(engine, premises.environment)
      await prepare(premises, both)
      await killInTheMiddle({ ...premises.environment, ...both }, groups)

      const early = await failingStart({ ...premises.environment, ...onlyNew })
      const keys = both.UGS_MASTER_KEY.split(',')
      assertRefusal(early, /sealed under master key [0-9a-f]{8}, which is not among/, /UGS_MASTER_KEY/, keys)

      const between = await premises.start(both)
      await assertTokens(between.caller, tokens)
      await speedUp(engine, premises.environment)
      const again = await runCommand({ ...premises.environment, ...both }, 'keys', 'rotate', '--json')
      assert.equal(again.code, 0, again.stderr)
      const { resealed, retired } = JSON.parse(again.stdout)
      assert.ok(resealed > 0 && resealed < groups, `it goes on where it was: ${resealed} were left`)
      assert.equal(retired.length, 1)
      await assertTokens((await premises.start(onlyNew)).caller, tokens)
    })

    it('fails where a process has sealed under the old key again meanwhile, and needs only to be run again', async (t) => {
      const { premises, onlyNew, both } = await withTwoKeys(t, engine)
      const left = await premises.start({ UGS_MASTER_KEY: both.UGS_MASTER_KEY.split(',').reverse().join() })
      const tokens = await create(left.caller, 1_100)
      await prepare(premises, both)
      await slowDown(engine, premises.environment)
      const [row] = await rawSql(premises.environment, 'select provided_id from user_group order by id limit 1')
      const first = String(row?.provided_id)
      const rotation = startCommand({ ...premises.environment, ...both }, 'keys', 'rotate')
      await eventually('a part is done', async () => (await sealedAnew(premises.environment)) > 0)
      tokens.set(first, (await left.caller.rotate(tokens.get(first) as string)).body.user_group.token)
      await speedUp(engine, premises.environment)
      assertRefusal(await rotation.ended, /still sealed under master key [0-9a-f]{8}/, /Keep that key.*run this again/)
      await left.stop()
      const again = await runCommand({ ...premises.environment, ...both }, 'keys', 'rotate', '--json')
      assert.equal(again.code, 0, again.stderr)
      assert.equal(JSON.parse(again.stdout).retired.length, 1)
      await assertTokens((await premises.start(onlyNew)).caller, sample(tokens))
    })

    it('says what the old key is to be taken out of, and so again when all is done', async (t) => {
      const { premises, both } = await withTwoKeys(t, engine)
      await prepare(premises)
      await prepare(premises, both)
      const file = join(mkdtempSync(join(tmpdir(), 'ugs-keys-')), 'master.key')
      t.after(() => rmSync(dirname(file), { recursive: true }))
      writeFileSync(file, both.UGS_MASTER_KEY, { mode: 0o600 })
      const inFile = { ...premises.environment, UGS_MASTER_KEY: undefined, UGS_MASTER_KEY_FILE: file }
      const rotate = async (environment: Environment) => (await runCommand(environment, 'keys', 'rotate')).stdout

      const first = await rotate(inFile)
      const [, old, place] = /^Master key (\w+) is no longer needed: take it out of (.+)\.$/m.exec(first) ?? []
      assert.equal(place, file, first)
      const idle = (place: string) =>
        `Nothing is sealed under master key ${old}: if it is the old one, take it out of ${place}.\n`
      assert.ok((await rotate(inFile)).endsWith(idle(file)))
      assert.ok((await rotate({ ...premises.environment, ...both })).endsWith(idle('UGS_MASTER_KEY')))
      writeFileSync(file, both.UGS_MASTER_KEY.slice(0, both.UGS_MASTER_KEY.indexOf(',')))
      assert.match(await rotate(inFile), /^Sealed 0 .*\n$/)
    })

    it('is begun by no command, and makes a process unready that was not given the new key', async (t) => {
      const { premises, both } = await withTwoKeys(t, engine)
      const left = await premises.start()
      const mistyped = { ...premises.environment, ...both }
      const [examined, ...refused] = await Promise.all([
        runCommand(mistyped, 'doctor'),
        runCommand(mistyped, 'team', 'list'),
        runCommand(mistyped, 'keys', 'rotate'),
      ])
      for (const ended of refused)
        assertRefusal(ended, /, [0-9a-f]{8}, is new to the database/, /UGS_MASTER_KEY.* restart the service with both/)
      assert.match(examined.stdout, /^ok {3}keys .+ is new to the database\.\n +Check UGS_MASTER_KEY/m)
      assert.equal((await left.caller.call('GET', '/readyz')).status, 200)
      const given = await premises.start(both)
      const { status, body } = await left.caller.call('GET', '/readyz')
      assert.equal(status, 503)
      assert.equal(body.error.code, 'unavailable')
      assert.equal((await left.caller.call('GET', '/healthz')).status, 200, 'it is alive, though')
      assert.equal((await given.caller.call('GET', '/readyz')).status, 200)
    })

    it('makes a process unready that seals under the old key once that is no longer in use', async (t) => {
      const { premises, both } = await withTwoKeys(t, engine)
      const left = await premises.start({ UGS_MASTER_KEY: both.UGS_MASTER_KEY.split(',').reverse().join() })
      assert.equal((await left.caller.call('GET', '/readyz')).status, 200)
      await prepare(premises, both)
      const rotated = await runCommand({ ...premises.environment, ...both }, 'keys', 'rotate')
      assert.equal(rotated.code, 0, rotated.stderr)
      assert.equal((await left.caller.call('GET', '/readyz')).status, 503)
    })
  })

async function withTwoKeys(context: Parameters<typeof Premises.open>[0], engine: Engine) {
  const premises = await Premises.open(context, engine)
  const fresh = newMasterKey()
  const both = { UGS_MASTER_KEY: `${fresh},${premises.environment.UGS_MASTER_KEY}` }
  return { premises, both, onlyNew: { UGS_MASTER_KEY: fresh } }
}

async function create(caller: Caller, count: number): Promise<Map<string, string>> {
  const answers = await Promise.all(times(count, (i) => caller.getOrCreate(`group ${i}`)))
  return new Map(answers.map(({ body }) => [body.user_group.provided_id, body.user_group.token]))
}

/** A tenth, over the whole length. */
function sample(tokens: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...tokens].filter((_, index) => index % 10 === 0))
}

async function assertTokens(caller: Caller, tokens: ReadonlyMap<string, string>): Promise<void> {
  const found = await Promise.all([...tokens.keys()].map((id) => caller.getOrCreate(id)))
  assert.deepEqual(new Map(found.map(({ body }) => [body.user_group?.provided_id, body.user_group?.token])), tokens)
}

/** Starts a rotation and kills it when it has done a part of its work. */
async function killInTheMiddle(environment: Environment, groups: number): Promise<void> {
  const rotation = startCommand(environment, 'keys', 'rotate')
  const done = () => sealedAnew(environment)
  await eventually('a part is done', async () => (await done()) > 0)
  rotation.process.kill('SIGKILL')
  assert.equal((await rotation.ended).code, null)
  assert.ok((await done()) < groups, 'it was killed in the middle')
}

function sealedAnew(environment: Environment): Promise<number> {
  return rawCount(environment, 'user_group where token_key <> (select id from master_key order by created_at limit 1)')
}

/** Makes every reseal take a moment, so that there is a middle to be killed in. */
async function slowDown(engine: Engine, environment: Environment): Promise<void> {
  if (engine.name === 'SQLite') {
    const busy = 'select count(*) from (select 1 from user_group limit 150), (select 1 from user_group limit 150)'
    await rawSql(environment, `create trigger slow after update of token_key on user_group begin ${busy}; end`)
    return
  }
  await rawSql(
    environment,
    `create function slow() returns trigger as $$ begin perform pg_sleep(0.001); return new; end $$ language plpgsql`,
  )
  await rawSql(environment, 'create trigger slow after update on user_group for each row execute function slow()')
}

async function speedUp(engine: Engine, environment: Environment): Promise<void> {
  await rawSql(environment, engine.name === 'SQLite' ? 'drop trigger slow' : 'drop trigger slow on user_group')
}
