import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import { failingStart } from '../support/refusal.ts'
import { type ServiceProcess, testApiToken } from '../support/service-process.ts'

const run = promisify(execFile)

for (const engine of engines)
  describe(`a start on ${engine.name}`, () => {
    it('prints an API token the first time, and never again', async (t) => {
      const premises = await Premises.open(t, engine, { UGS_API_TOKEN: undefined })
      const first = await premises.start()
      const token = printedToken(first)
      assert.ok(token)
      const caller = premises.call(first, token)
      assert.equal((await caller.getOrCreate('acme')).body.user_group.team_id, 1)
      assert.equal((await caller.call('GET', '/metrics')).status, 200, 'it may do everything')
      assert.equal(await first.stop(), 0)
      const second = await premises.start()
      assert.doesNotMatch(second.output().stderr, /ug[at]_/)
      assert.match(second.output().stderr, /ugs api-token create/, 'what to do when it was lost')
      assert.equal((await premises.call(second, token).getOrCreate('acme')).body.new_user_group, false)
    })

    it('that failed before it could print the API token does not keep it from the next', async (t) => {
      const premises = await Premises.open(t, engine, { UGS_API_TOKEN: undefined })
      const other = await Premises.open(t, engine)
      const { port } = new URL((await other.start()).url)
      const failed = await failingStart({ ...premises.environment, PORT: port })
      assert.match(failed.stderr, /EADDRINUSE/)
      assert.ok(printedToken(await premises.start()), 'nobody has seen a token yet')
    })

    for (const [kind, settings] of [
      ['the API token it made', { UGS_API_TOKEN: undefined }],
      ['the API token it was given', { UGS_API_TOKEN: testApiToken }],
    ] as const)
      it(`greets with two lines that work when pasted, with ${kind}`, async (t) => {
        const service = await (await Premises.open(t, engine, settings)).start()
        const lines = service.output().stderr.match(/^ *curl .+$/gm) ?? []
        const [lookUp, rotate] = lines.map((line) => line.trim())
        assert.equal(lines.length, 2)
        const paste = async (line = '') => {
          const { PATH } = process.env
          const { stdout } = await run('bash', ['-c', line], { env: { PATH, ...settings } })
          return JSON.parse(stdout)
        }
        const made = await paste(lookUp)
        assert.deepEqual([made.success, made.new_user_group, made.user_group.provided_id], [1, true, 'acme'])
        const rotated = await paste(rotate)
        assert.equal(rotated.success, 1)
        assert.notEqual(rotated.user_group.token, made.user_group.token)
        assert.equal((await paste(lookUp)).user_group.token, rotated.user_group.token)
      })

    it('leaves a revoked UGS_API_TOKEN revoked, and says so', async (t) => {
      const short = 'only_twenty_letters_'
      const premises = await Premises.open(t, engine, { UGS_API_TOKEN: short })
      const first = await premises.start()
      await eventually('it warns', () => /^Warning: UGS_API_TOKEN is shorter than 32/m.test(first.output().stderr))
      const caller = premises.call(first, short)
      assert.equal((await caller.getOrCreate('acme')).status, 200)
      const [{ id }] = JSON.parse((await runCommand(premises.environment, 'api-token', 'list', '--json')).stdout)
      assert.equal((await runCommand(premises.environment, 'api-token', 'revoke', String(id))).code, 0)
      assert.equal((await caller.getOrCreate('acme')).status, 401, 'at once, in the running process')
      assert.equal(await first.stop(), 0)
      const second = await premises.start()
      await eventually('it says so', () => /^Warning: UGS_API_TOKEN was revoked/m.test(second.output().stderr))
      assert.ok(!second.output().stderr.includes(short))
      assert.equal((await premises.call(second, short).getOrCreate('acme')).status, 401)
    })

    it('warns of a UGS_API_TOKEN that was made for something else', async (t) => {
      const premises = await Premises.open(t, engine)
      const first = await premises.start()
      await runCommand(premises.environment, 'team', 'create', 'Second team')
      const options = ['--team', '2', '--scope', 'verify', '--expires', '2h', '--json']
      const made = await runCommand(premises.environment, 'api-token', 'create', 'dashboards', ...options)
      // Only now: a warning comes behind the greeting that the start waits for.
      assert.doesNotMatch(first.output().stderr, /Warning/)
      const warnings = async (count: number) => {
        const service = await premises.start({ UGS_API_TOKEN: JSON.parse(made.stdout).token })
        const warned = () => service.output().stderr.match(/(?<=^Warning: UGS_API_TOKEN )[\w ]+/gm) ?? []
        return eventually('it warns', () => warned().length === count && warned())
      }
      const notTheFirst = ['is an API token of team 2', 'may not do everything']
      assert.deepEqual(await warnings(2), notTheFirst)
      await rawSql(premises.environment, 'update api_token set expires_at = 1 where team_id = 2')
      assert.deepEqual(await warnings(3), ['has expired', ...notTheFirst])
    })

    for (const workers of engine.name === 'SQLite' ? ['1', '2'] : ['1'])
      it(`serves the figures without a token on UGS_METRICS_PORT, with ${workers} worker(s)`, async (t) => {
        const premises = await Premises.open(t, engine, { UGS_METRICS_PORT: '0', UGS_WORKERS: workers })
        const service = await premises.start()
        await service.caller.getOrCreate('acme')
        const [, metrics = assert.fail('it says where')] = /Metrics on +(http\S+)/.exec(service.output().stderr) ?? []
        const answer = await fetch(metrics)
        assert.equal(answer.status, 200)
        assert.match(
          await answer.text(),
          /^ugs_requests_total\{operation="user_group.get_or_create",status="200"\} 1$/m,
        )
        assert.equal((await fetch(new URL('/api/user', metrics))).status, 404, 'and nothing else')
        assert.equal((await fetch(`${service.url}/metrics`)).status, 401, 'where the others are, with a token only')
        assert.equal(await service.stop(), 0)
      })

    if (engine.name === 'SQLite')
      it('makes a master.key and a database that nobody else may read', async (t) => {
        const premises = await Premises.open(t, engine, { UGS_MASTER_KEY: undefined })
        const folder = join(premises.database.folder as string, 'made')
        const service = await premises.start({ DATABASE_URL: `sqlite:${join(folder, 'test.db')}` })
        await service.caller.getOrCreate('acme')
        assert.equal(statSync(join(folder, 'master.key')).mode & 0o777, 0o600)
        assert.equal(statSync(folder).mode & 0o077, 0)
        assert.ok(existsSync(join(folder, 'test.db')))
        for (const file of readdirSync(folder)) assert.equal(statSync(join(folder, file)).mode & 0o077, 0, file)
        const link = join(premises.database.folder as string, 'link.db')
        symlinkSync(join(folder, 'test.db'), link)
        const settings = { DATABASE_URL: `sqlite:${link}`, UGS_MASTER_KEY_FILE: join(folder, 'master.key') }
        const { code, stderr } = await runCommand(settings, 'team', 'list')
        assert.equal(code, 0, `by a link to it too: ${stderr}`)
      })
  })

function printedToken(service: ServiceProcess): string | undefined {
  return /API token +(uga_\w+) +\(shown only now\)/.exec(service.output().stderr)?.[1]
}
