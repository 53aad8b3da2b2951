import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { formsOf, sightings } from '../support/canaries.ts'
import { CarelessCaller } from '../support/careless-caller.ts'
import { Carelessness, canary } from '../support/carelessness.ts'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import type { ServiceProcess } from '../support/service-process.ts'

for (const engine of engines)
  describe(`a secret on ${engine.name} never turns up`, () => {
    let premises: Premises
    let service: ServiceProcess
    let caller: CarelessCaller
    let careless: Carelessness
    before(async () => {
      const apiToken = canary('api')
      premises = await Premises.open(undefined, engine, { UGS_API_TOKEN: apiToken, UGS_LOG_LEVEL: 'trace' })
      service = await premises.start()
      caller = new CarelessCaller(service.url, apiToken)
      careless = new Carelessness(caller, premises.environment)
      await careless.useEverything()
      await careless.misuseEverything()
      await careless.breakTheDatabase()
    })
    after(async () => {
      await caller?.close()
      await premises.close()
    })

    it('in what it logs, at the level of trace', () => {
      const { stdout, stderr } = service.output()
      assert.ok(stdout.split('\n').length > 100, 'it did log')
      assert.match(stdout, /"level":"error"/)
      assert.deepEqual(sightings(careless.all, stdout), [])
      assert.deepEqual(sightings(careless.all, stderr), [])
    })

    it('in an error answer, its headers included', () => {
      const failures = caller.replies.filter(({ status }) => status >= 400)
      const statuses = new Set(failures.map(({ status }) => status))
      for (const status of [400, 401, 404, 405, 409, 413, 415, 500]) assert.ok(statuses.has(status), `a ${status}`)
      const seen = failures.flatMap(({ text }) =>
        sightings(careless.all, text).map((name) => `${name}: ${text.slice(0, 600)}`),
      )
      assert.deepEqual(seen, [])
    })

    it('in /metrics, the audit trail or a list', async () => {
      for (const path of ['/metrics', '/api/events', '/api/api_tokens', '/api/data_sources', '/api/team', '/readyz']) {
        const { status, text } = await caller.call('GET', path)
        assert.equal(status, 200, path)
        assert.deepEqual(sightings(path === '/api/events' ? careless.secrets : careless.all, text), [], path)
      }
      const list = await caller.call('GET', '/api/user_groups')
      assert.deepEqual(sightings(careless.secrets, list.text), [])
      const doctor = await runCommand(premises.environment, 'doctor')
      assert.deepEqual(sightings(careless.all, doctor.stdout + doctor.stderr), [])
    })

    it('in a debugger, which Node opens to the whole machine at a signal', async () => {
      service.process.kill('SIGUSR1')
      await pause(300)
      assert.equal((await caller.call('GET', '/healthz')).status, 200)
      assert.doesNotMatch(service.output().stderr, /debugger|inspector/i)
    })

    it('in the database, its files or a backup', async () => {
      const places = engine.name === 'SQLite' ? await files(premises) : await rows(premises)
      for (const [place, content] of places) assert.deepEqual(sightings(careless.secrets, content), [], place)
      const known = places.flatMap(([, content]) => sightings(careless.business, content))
      assert.ok(
        known.some((name) => name.startsWith('property')),
        'the search finds what is there',
      )
    })
  })

async function files(premises: Premises): Promise<[string, Buffer][]> {
  const folder = premises.database.folder as string
  assert.equal((await runCommand(premises.environment, 'backup', join(folder, 'copy.db'))).code, 0)
  const names = readdirSync(folder).sort()
  assert.deepEqual(names, ['copy.db', 'test.db', 'test.db-shm', 'test.db-wal'])
  return names.map((name) => [name, readFileSync(join(folder, name))])
}

async function rows(premises: Premises): Promise<[string, string][]> {
  const tables = await rawSql(premises.environment, "select tablename from pg_tables where schemaname = 'public'")
  const contents = tables.map(async ({ tablename }): Promise<[string, string]> => {
    const found = await rawSql(premises.environment, `select "${tablename}"::text as line from "${tablename}"`)
    return [String(tablename), found.map(({ line }) => line).join('\n')]
  })
  return Promise.all(contents)
}

describe('the search for secrets', () => {
  it('finds one in every form, wherever it stands', () => {
    const secret = 'uga_a+b/c="d"'
    for (const [how, form] of formsOf(Buffer.from(secret)))
      assert.notDeepEqual(sightings(new Map([['secret', secret]]), `before ${form} behind`), [], how)
    for (const before of ['', '1', '12'])
      for (const behind of ['', '1', '12'])
        for (const encoding of ['base64', 'base64url', 'hex'] as const) {
          const text = Buffer.from(`${before}${secret}${behind}`).toString(encoding)
          assert.notDeepEqual(sightings(new Map([['secret', secret]]), text), [], `${before}…${behind} ${encoding}`)
        }
  })
})
