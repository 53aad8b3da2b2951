import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, it, type TestContext } from 'node:test'
import { type Ended, runCommand, startOnFullDisk, startUnder } from '../support/command.ts'
import { type Engine, engines, newMasterKey } from '../support/engines.ts'
import { type CalledService, Premises } from '../support/premises.ts'
import { prepare } from '../support/prepare.ts'
import { rawSql, sqlitePath } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal } from '../support/refusal.ts'
import { type Environment, spawnUgs, testApiToken } from '../support/service-process.ts'

const sqlite = engines[0] as Engine
const onlyLinuxTells = { skip: process.platform !== 'linux' }

for (const engine of engines)
  describe(`the ugs commands for teams and API tokens on ${engine.name}`, () => {
    let premises: Premises
    let service: CalledService
    const ugs = (...args: string[]): Promise<Ended> => runCommand(premises.environment, ...args)
    before(async () => {
      premises = await Premises.open(undefined, engine, { UGS_API_TOKEN: testApiToken })
      service = await premises.start()
    })
    after(() => premises.close())

    it('make and list teams, each with an API token of its own', async () => {
      const team = json(await ugs('team', 'create', 'Ümläut & Co', '--json'))
      assert.deepEqual(Object.keys(team), ['id', 'name', 'strict_mapping', 'created_at'])
      assert.equal(team.name, 'Ümläut & Co')
      const listed = json(await ugs('team', 'list', '--json'))
      assert.deepEqual(listed.at(-1), team)
      const { token } = json(await ugs('api-token', 'create', 'theirs', '--team', String(team.id), '--json'))
      const mine = await service.caller.getOrCreate('acme')
      const theirs = await premises.call(service, token).getOrCreate('acme')
      assert.deepEqual([mine.body.user_group.team_id, theirs.body.user_group.team_id], [1, team.id])
    })

    it('show whether a team refuses mappings that lead nowhere', async () => {
      const { id } = json(await ugs('team', 'create', 'Strict', '--json'))
      assert.match((await ugs('team', 'list')).stdout, /^ID +NAME +STRICT MAPPING +CREATED$/m)
      for (const setting of ['off', 'on']) {
        json(await ugs('team', 'update', '--team', String(id), '--strict-mapping', setting, '--json'))
        assert.match((await ugs('team', 'list')).stdout, new RegExp(`^${id} +Strict +${setting} +\\d{4}-\\S+$`, 'm'))
        const listed: { id: number; strict_mapping: boolean }[] = json(await ugs('team', 'list', '--json'))
        assert.equal(listed.find((team) => team.id === id)?.strict_mapping, setting === 'on')
      }
    })

    it('show an API token once, alone on stdout, and never list it', async () => {
      const made = await ugs('api-token', 'create', 'for a pipe', '--scope', 'verify', '--scope', 'provision')
      assert.match(made.stdout, /^uga_[0-9A-Za-z]{38}\n$/)
      assert.match(made.stderr, /shown only now/)
      const token = made.stdout.trim()
      assert.equal((await premises.call(service, token).getOrCreate('acme')).status, 200)
      assert.equal((await premises.call(service, token).call('GET', '/metrics')).status, 403, 'not of scope admin')
      for (const format of [[], ['--json']]) {
        const listed = await ugs('api-token', 'list', ...format)
        assert.match(listed.stdout, /for a pipe/)
        assertQuiet(listed, [token, token.slice(4, 20)])
      }
    })

    it('end an API token when it expires and when it is revoked, on the running service too', async () => {
      const { token, id, expires_at } = json(await ugs('api-token', 'create', 'short', '--expires', '90d', '--json'))
      const days = (Date.parse(expires_at) - Date.now()) / 86_400_000
      assert.ok(days > 89.9 && days <= 90, expires_at)
      const caller = premises.call(service, token)
      assert.equal((await caller.getOrCreate('acme')).status, 200)
      const revoked = json(await ugs('api-token', 'revoke', String(id), '--json'))
      assert.equal(revoked.state, 'revoked')
      assert.equal((await caller.getOrCreate('acme')).status, 401)
      assertRefusal(
        await ugs('api-token', 'revoke', String(id)),
        /has no API token \d+ to revoke/,
        /ugs api-token list/,
      )
    })
  })

describe('the ugs commands', () => {
  it('fail with exit code 1, a sentence and a remedy', async (t) => {
    const { environment } = await prepared(t)
    const wrong = newMasterKey()
    const [none, unknown, past, locked] = await Promise.all([
      runCommand(environment, 'api-token', 'create', 'x', '--team', '99'),
      runCommand(environment, 'api-token', 'revoke', '12345'),
      runCommand(environment, 'api-token', 'create', 'x', '--expires', '2020-01-31'),
      runCommand({ ...environment, UGS_MASTER_KEY: wrong }, 'team', 'list'),
    ])
    assertRefusal(none, /There is no team 99/, /ugs team list/)
    assertRefusal(unknown, /no API token 12345/, /ugs api-token list --team 1/)
    assertRefusal(past, /2020-01-31 is in the past/, /time to come/)
    assertRefusal(locked, /sealed under master key/, /UGS_MASTER_KEY/, [wrong])
  })

  it('let doctor name what is wrong with a remedy, and exit 1', async (t) => {
    const { environment } = await prepared(t)
    const healthy = await runCommand(environment, 'doctor')
    assert.equal(healthy.code, 0)
    assert.deepEqual(new Set(healthy.stdout.trimEnd().match(/^\S+/gm)), new Set(['ok']))
    const wrong = newMasterKey()
    const settings = { ...environment, UGS_MASTER_KEY: wrong }
    const [ended, asJson] = await Promise.all([
      runCommand(settings, 'doctor'),
      runCommand(settings, 'doctor', '--json'),
    ])
    assert.deepEqual([ended.code, asJson.code], [1, 1])
    assert.match(ended.stdout, /^BAD +keys +What is stored is sealed under master key/m)
    assert.match(ended.stdout, /^ +Add that key to UGS_MASTER_KEY/m)
    assertQuiet(ended, [wrong, environment.UGS_MASTER_KEY as string])
    const findings = JSON.parse(asJson.stdout)
    assert.equal(findings.find(({ check }: { check: string }) => check === 'keys').ok, false)
  })

  it('let doctor say what the start says of an API token that it would be given in vain', async (t) => {
    const { environment } = await prepared(t)
    const create = ['api-token', 'create', 'to be revoked', '--scope', 'admin', '--json']
    const { id, token } = json(await runCommand(environment, ...create))
    const examined = async () => (await runCommand({ ...environment, UGS_API_TOKEN: token }, 'doctor')).stdout
    assert.match(await examined(), /^ok +api tokens +The team has one that works\.\n(?! )/m)
    json(await runCommand(environment, 'api-token', 'revoke', String(id), '--json'))
    assert.match(await examined(), /^ok +api tokens +The team has one that works\.\n +UGS_API_TOKEN was revoked/m)
  })

  it('let doctor name every team without an API token that works, which is wrong for the first only', async (t) => {
    const { environment } = await prepared(t)
    const examine = async (teams: string) => {
      const { code, stdout } = await runCommand(environment, 'doctor')
      const found = new RegExp(
        `^(ok|BAD) +api tokens +${teams} no API token that works\\.\\n +.*ugs api-token create`,
        'm',
      )
      return [code, found.exec(stdout)?.[1]]
    }
    json(await runCommand(environment, 'team', 'create', 'By mistake', '--json'))
    assert.deepEqual(await examine('Team 2 has'), [0, 'ok'])
    json(await runCommand(environment, 'team', 'create', 'Third', '--json'))
    assert.deepEqual(await examine('Teams 2, 3 have'), [0, 'ok'])
    await rawSql(environment, 'update api_token set revoked_at = 1')
    assert.deepEqual(await examine('Teams 1, 2, 3 have'), [1, 'BAD'])
  })

  it('let doctor find an index that does not match its table, which a start has no time to look for', async (t) => {
    const premises = await prepared(t)
    const database = new DatabaseSync(sqlitePath(premises.environment), { defensive: false })
    const other = 'create index api_token_of_team on api_token (team_id, name)'
    database.exec('pragma writable_schema = on')
    database.exec(`update sqlite_schema set sql = '${other}' where name = 'api_token_of_team'`)
    database.close()
    const { code, stdout } = await runCommand(premises.environment, 'doctor')
    assert.match(stdout, /^BAD {2}database .+ is damaged: .*api_token_of_team/m)
    assert.equal(code, 1)
  })

  it('let doctor put the problems of the settings and what to do below what they belong to', async () => {
    const { code, stdout } = await runCommand({ PORT: '80a', UGS_METRICS_PORT: '80b' }, 'doctor')
    assert.equal(code, 1)
    const [first = '', ...others] = stdout.trimEnd().split('\n')
    assert.match(first, /^BAD {2}settings {3}The settings have 2 problems:$/)
    assert.deepEqual(
      others.map((line) => line.search(/\S/)),
      [18, 18, 16],
      stdout,
    )
  })

  it('let doctor find an address that is none of this machine', async () => {
    const { code, stdout } = await runCommand({ HOST: '192.0.2.1' }, 'doctor')
    assert.equal(code, 1)
    assert.match(
      stdout,
      /^BAD {2}settings {3}The service cannot listen on 192\.0\.2\.1 \(EADDRNOTAVAIL\)\.\n +Set HOST to/,
    )
  })

  it('refuse what is not in UTF-8, which Node would make the same id of as of another', onlyLinuxTells, async () => {
    const inLatin1 = ['sh', '-c', 'exec "$0" "$@" "$(printf \'M\\374ller\')"']
    const { code, stdout, stderr } = await startUnder(inLatin1, {}, 'user-group', 'create').ended
    assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
    assert.match(stderr, /^error: an argument is not text in UTF-8/)
  })

  it('end quietly when their reader has seen enough', async (t) => {
    const environment = await withAcme(t)
    for (const args of [
      ['team', 'list'],
      ['events', '--follow'],
      ['user-group', 'export', '-'],
      ['doctor', '--json'],
    ]) {
      const child = spawnUgs(environment, ...args)
      child.stdout.destroy()
      const [stderr, [code]] = await Promise.all([child.stderr.toArray(), once(child, 'close')])
      assert.deepEqual({ code, stderr }, { code: 0, stderr: [] }, args.join(' '))
    }
  })

  it('say in one sentence that there is no room for their output', { skip: !existsSync('/dev/full') }, async (t) => {
    const environment = await withAcme(t)
    for (const args of [['team', 'list'], ['events', '--json'], ['user-group', 'export', '-'], ['doctor']]) {
      const ended = await startOnFullDisk(environment, ...args).ended
      assertRefusal(ended, /(output cannot be written|export failed): ENOSPC/, /room/)
    }
  })

  it('let doctor look at a database that is not there yet without making it, and tell it from one that is lost', async (t) => {
    const empty = await Premises.open(t, sqlite)
    const folder = empty.database.folder as string
    const examine = () => runCommand({ ...empty.environment, UGS_MASTER_KEY: undefined }, 'doctor')
    assert.equal((await examine()).code, 0)
    const named = { ...empty.environment, UGS_MASTER_KEY: undefined, UGS_MASTER_KEY_FILE: join(folder, 'nothing.key') }
    const keyless = await runCommand(named, 'doctor')
    assert.match(
      keyless.stdout,
      /^BAD {2}keys +The master key file .+nothing\.key does not exist\.\n +.*UGS_MASTER_KEY_FILE/m,
    )
    assert.equal(keyless.code, 1)
    assert.deepEqual(readdirSync(folder), [])
    writeFileSync(join(folder, 'master.key'), newMasterKey(), { mode: 0o600 })
    const { code, stdout } = await examine()
    assert.match(
      stdout,
      /^BAD {2}database +There is a master key, .+, but no database at .+\n +.*ugs restore.*DATABASE_URL/m,
    )
    assert.equal(code, 1)
    assert.deepEqual(readdirSync(folder), ['master.key'])
  })
})

async function withAcme(context: TestContext): Promise<Environment> {
  const premises = await Premises.open(context, sqlite)
  assert.equal((await (await premises.start()).caller.getOrCreate('acme')).status, 200)
  return premises.environment
}

async function prepared(context: TestContext): Promise<Premises> {
  const premises = await Premises.open(context, sqlite)
  await prepare(premises)
  return premises
}

// biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what a test is about to assert.
function json({ code, stdout, stderr }: Ended): any {
  assert.equal(code, 0, stderr)
  assert.equal(stderr, '')
  return JSON.parse(stdout)
}
