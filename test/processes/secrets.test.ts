import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Canaries, formsOf, sightings } from '../support/canaries.ts'
import { CarelessCaller } from '../support/careless-caller.ts'
import { runCommand } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import type { ServiceProcess } from '../support/service-process.ts'

const canary = (name: string) => `${name}-canary-${randomBytes(12).toString('hex')}`

for (const engine of engines)
  describe(`a secret on ${engine.name} never turns up`, () => {
    const apiToken = canary('api')
    const connection = canary('connection')
    /** Never anywhere but in the answers that are there to hand them out. */
    const secrets: Canaries = new Map([
      ['configured API token', apiToken],
      ['connection', connection],
    ])
    /** The customer's business: in the database, but not in what the operator reads. */
    const property = canary('property')
    const rawBody = canary('body')
    const digits = `9${BigInt(`0x${randomBytes(12).toString('hex')}`)}`
    const business: Canaries = new Map([
      ['property', property],
      ['raw body', rawBody],
      ['number', digits],
    ])
    const all = (): Canaries => new Map([...secrets, ...business])

    let premises: Premises
    let service: ServiceProcess
    let caller: CarelessCaller
    before(async () => {
      premises = await Premises.open(undefined, engine, { UGS_API_TOKEN: apiToken, UGS_LOG_LEVEL: 'trace' })
      const key = premises.environment.UGS_MASTER_KEY as string
      secrets.set('master key', key).set('bytes of the master key', Buffer.from(key, 'base64'))
      service = await premises.start()
      caller = new CarelessCaller(service.url, apiToken)
      await useEverything()
      await misuseEverything()
      await breakTheDatabase()
    })
    after(async () => {
      await caller?.close()
      await premises.close()
    })

    const remember = (token: string): string => {
      secrets.set(`${token.slice(0, 4)} token ${secrets.size}`, token)
      return token
    }

    const useEverything = async () => {
      const properties = { note: property }
      const made = await caller.call('GET', '/api/user', { user_group_id: 'acme', properties })
      const rotated = await caller.call('POST', '/api/user', {
        current_token: remember(made.json.user_group.token),
        grace_seconds: 60,
      })
      const twin = await caller.call('POST', '/api/user_groups', { user_group_id: 'twin', properties })
      const current = remember(rotated.json.user_group.token)
      for (const token of [current, made.json.user_group.token, remember(twin.json.user_group.token)])
        assert.equal((await caller.call('POST', '/api/verify', { token })).json.active, true)
      await caller.call('PATCH', '/api/user_groups/twin', { name: 'Twin', properties, disabled: true })
      await caller.call('POST', '/api/schemas', { id: 'sales', name: 'Sales' })
      const source = { schema_id: 'sales', provided_id: 'acme-db', name: 'DB', connection: { password: connection } }
      assert.equal((await caller.call('POST', '/api/data_sources', source)).status, 200)
      await caller.call('PATCH', '/api/data_sources/acme-db', { connection: { password: connection, again: true } })
      const more = await caller.call('POST', '/api/api_tokens', { name: 'ci', scopes: ['verify'] })
      remember(more.json.api_token.token)
      const command = await runCommand(premises.environment, 'api-token', 'create', 'by command', '--json')
      remember(JSON.parse(command.stdout).token)
      await caller.call('DELETE', '/api/user_groups/twin')
    }

    const misuseEverything = async () => {
      const { json } = await caller.call('GET', '/api/user', { user_group_id: 'acme' })
      const token = json.user_group.token as string
      const tokens = [...secrets.values()].filter((secret) => typeof secret === 'string' && secret !== connection)
      for (const secret of tokens as string[]) {
        const inUrl = encodeURIComponent(secret)
        await caller.call('GET', `/api/user?token=${inUrl}`)
        await caller.call('GET', `/${inUrl}`)
        await caller.call('GET', `/api/user_groups/${inUrl}`)
        await caller.call('DELETE', `/api/data_sources/${inUrl}`)
        await caller.call('DELETE', `/api/user?${inUrl}`)
        await caller.call('GET', `/api/user_groups?limit=${inUrl}`)
        await caller.call('GET', `/api/user_groups?${inUrl}=1`)
        await caller.call('GET', `/api/events?after=${inUrl}`)
        await caller.callWithText('GET', '/api/user', `{"user_group_id": "${secret}", ${rawBody}`)
        await caller.callWithText('POST', '/api/user', `${rawBody} ${secret}`, 'text/plain')
        await caller.call('GET', '/api/user', { user_group_id: [secret, rawBody], name: { [secret]: rawBody } })
        await caller.call('POST', '/api/user', { current_token: { [secret]: secret } })
        await caller.call('POST', '/api/user', { current_token: secret.toUpperCase() })
        await caller.call('POST', '/api/verify', { token: [secret] })
        await caller.call('POST', '/api/api_tokens', { name: rawBody, scopes: [secret] })
        await caller.call('PATCH', '/api/user_groups/acme', { disabled: secret })
        for (const scheme of ['Bearer', 'Basic', 'Token Token', ''])
          await caller.send('POST', '/api/verify', { headers: { authorization: `${scheme} ${secret}`.trim() } })
        const headers = { 'x-request-id': secret, 'user-agent': secret, cookie: secret, referer: secret }
        await caller.send('GET', '/api/user', { headers })
        await caller.send('GET', '/healthz', { headers })
        await caller.send('GET', '/api/user', { headers: { ...headers, authorization: `Token ${apiToken}` } })
        await caller.sendRaw(`GET /${inUrl} HTTP/1.1\r\n${secret}\r\n\r\n`)
        await caller.sendRaw(`${secret}\r\n\r\n`)
      }
      await caller.send('GET', '/api/user', { headers: { authorization: `Token ${token}` } })
      await caller.callWithText('GET', '/api/user', `{"user_group_id":"n","properties":{"n":${digits}}}`)
      const source = `"schema_id":"sales","name":"DB","connection"`
      await caller.callWithText('POST', '/api/data_sources', `{${source}:{"password":"${connection}"`)
      await caller.callWithText('POST', '/api/data_sources', `{${source}:"${connection}"}`)
      await caller.callWithText('POST', '/api/data_sources', `{${source}:{"pin":${digits}}}`)
      await caller.callWithText('GET', '/api/user', `{"user_group_id":"l","name":"${rawBody.repeat(9_000)}"}`)
      const half = `GET /api/user HTTP/1.1\r\nhost: x\r\nauthorization: Token ${apiToken}\r\n`
      const type = 'content-type: application/json\r\ncontent-length: 1000\r\n\r\n'
      await caller.sendRaw(`${half}${type}{"user_group_id":"${rawBody}`, 'at once')
      assert.equal((await caller.call('POST', '/api/user', { current_token: token })).status, 200)
      remember((await caller.call('GET', '/api/user', { user_group_id: 'acme' })).json.user_group.token)
      assert.equal((await caller.call('POST', '/api/user', { current_token: token })).status, 409)
    }

    /** What a bug or a broken disk would do: the service fails inside, and logs why. */
    const breakTheDatabase = async () => {
      await rawSql(premises.environment, "update user_group set token_sealed = token_hash where provided_id = 'acme'")
      const unopened = await caller.call('GET', '/api/user', { user_group_id: 'acme' })
      await rawSql(premises.environment, 'alter table former_token rename to elsewhere')
      const token = [...secrets.values()].at(-1)
      const unwritten = await caller.call('POST', '/api/user', { current_token: token })
      await rawSql(premises.environment, 'alter table elsewhere rename to former_token')
      assert.deepEqual([unopened.status, unwritten.status], [500, 500])
    }

    it('in what it logs, at the level of trace', () => {
      const { stdout, stderr } = service.output()
      assert.ok(stdout.split('\n').length > 100, 'it did log')
      assert.match(stdout, /"level":"error"/)
      assert.deepEqual(sightings(all(), stdout), [])
      assert.deepEqual(sightings(all(), stderr), [])
    })

    it('in an error answer, its headers included', () => {
      const failures = caller.replies.filter(({ status }) => status >= 400)
      const statuses = new Set(failures.map(({ status }) => status))
      for (const status of [400, 401, 404, 405, 409, 413, 415, 500]) assert.ok(statuses.has(status), `a ${status}`)
      const seen = failures.flatMap(({ text }) =>
        sightings(all(), text).map((name) => `${name}: ${text.slice(0, 600)}`),
      )
      assert.deepEqual(seen, [])
    })

    it('in /metrics, the audit trail or a list', async () => {
      for (const path of ['/metrics', '/api/events', '/api/api_tokens', '/api/data_sources', '/api/team', '/readyz']) {
        const { status, text } = await caller.call('GET', path)
        assert.equal(status, 200, path)
        assert.deepEqual(sightings(path === '/api/events' ? secrets : all(), text), [], path)
      }
      const list = await caller.call('GET', '/api/user_groups')
      assert.deepEqual(sightings(secrets, list.text), [])
      const doctor = await runCommand(premises.environment, 'doctor')
      assert.deepEqual(sightings(all(), doctor.stdout + doctor.stderr), [])
    })

    it('in the database, its files or a backup', async () => {
      const places = engine.name === 'SQLite' ? await files(premises) : await rows(premises)
      for (const [place, content] of places) assert.deepEqual(sightings(secrets, content), [], place)
      const known = places.flatMap(([, content]) => sightings(business, content))
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
