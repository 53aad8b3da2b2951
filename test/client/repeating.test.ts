import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { waitBefore } from '../../client/src/pause.ts'
import { UserGroupService } from '../../client/src/user-group-service.ts'
import type { Fault } from '../support/faulty-proxy.ts'
import { testApiToken } from '../support/service-process.ts'
import { clientOf, failure, runningOnSqlite, unluckyClient } from './client.ts'

const unavailable = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '1' },
  body: '{"success":0,"error":{"code":"unavailable","message":"Later."},"request_id":"r1"}',
}
const lost: Fault[] = [
  'drop',
  'lose',
  'cut',
  { status: 502, body: '<h1>Bad gateway</h1>' },
  { status: 503 },
  { status: 524 },
]

describe('the client, when a call does not go through', async () => {
  const there = await runningOnSqlite()
  const direct = clientOf(there.service.url)

  for (const fault of lost)
    it(`repeats what is safe to repeat after ${JSON.stringify(fault)}`, async (t) => {
      const unlucky = await unluckyClient(t, there, [fault, fault])
      const user_group_id = `repeated ${JSON.stringify(fault)}`
      const { user_group, new_user_group } = await unlucky.client.getOrCreate({ user_group_id })
      // What the answer that was lost has said.
      assert.equal(new_user_group, fault !== 'lose' && fault !== 'cut')
      assert.equal(unlucky.proxy.seen.length, 3)
      const { provided_id, token } = user_group
      const calls = [
        async (client: UserGroupService) => assert.ok((await client.verify(token)).active),
        async (client: UserGroupService) => assert.ok((await client.listUserGroups()).user_groups.length > 0),
        async (client: UserGroupService) => void (await client.updateUserGroup(provided_id, { name: 'New' })),
      ]
      for (const call of calls) {
        const { client, proxy } = await unluckyClient(t, there, [fault])
        await call(client)
        assert.equal(proxy.seen.length, 2)
      }
    })

  it('leaves open whether a change was done that was not answered, and reports what was refused as not done', async (t) => {
    await direct.getOrCreate({ user_group_id: 'changed' })
    await direct.createSchema({ id: 'changed' })
    await direct.createDataSource({ schema_id: 'changed', provided_id: 'changed' })
    const limited: Fault = { status: 429, headers: { 'retry-after': '30' }, body: unavailable.body }
    const writes = [
      (client: UserGroupService) => client.getOrCreate({ user_group_id: 'changed, and new' }),
      (client: UserGroupService) => client.updateUserGroup('changed', { disabled: true }),
      (client: UserGroupService) => client.updateDataSource('changed', { name: 'New' }),
      (client: UserGroupService) => client.updateTeam({ strict_mapping: false }),
    ]
    for (const write of writes) {
      const { client } = await unluckyClient(t, there, ['lose', limited])
      const { code, status, retryAfter, message, cause } = await failure(write(client))
      assert.deepEqual([code, status, retryAfter], ['answer_lost', 429, 30])
      assert.match(message, /may have been done.*repeat/)
      assert.equal((cause as { code: string }).code, 'unavailable')
      const refused = await unluckyClient(t, there, [limited])
      assert.equal((await failure(write(refused.client))).code, 'unavailable')
    }
    assert.equal((await direct.getUserGroup('changed')).user_group.disabled, true)
    for (const read of [
      (client: UserGroupService) => client.getTeam(),
      (client: UserGroupService) => client.verify('x'),
    ]) {
      const { client } = await unluckyClient(t, there, ['lose', limited])
      assert.equal((await failure(read(client))).code, 'unavailable')
    }
  })

  it('never creates blindly a second time, and says what to do', async (t) => {
    const creations = [
      (client: UserGroupService) => client.createSchema({ id: 'sales' }),
      (client: UserGroupService) => client.createDataSource({ schema_id: 'sales', provided_id: 'db' }),
      (client: UserGroupService) => client.createApiToken({ name: 'lost', scopes: ['verify'] }),
    ]
    const unsure = { ...unavailable, afterWork: true } as const
    for (const [fault, reason] of [
      ['lose', 'connection_failed'],
      [unsure, 'unavailable'],
      [{ status: 503, afterWork: true }, 'unexpected_answer'],
      [{ status: 520, afterWork: true }, 'unexpected_answer'],
    ] as const)
      for (const create of creations) {
        const { client, proxy } = await unluckyClient(t, there, [fault])
        const { code, status, requestId, message, cause } = await failure(create(client))
        assert.equal(code, 'answer_lost')
        assert.equal(status, typeof fault === 'object' ? fault.status : undefined)
        assert.equal(requestId, fault === unsure ? 'r1' : undefined)
        assert.match(message, /ask list\w+ before you repeat/)
        assert.equal((cause as { code: string }).code, reason)
        assert.equal(proxy.seen.length, 1)
      }
    const { api_tokens } = await direct.listApiTokens()
    assert.equal(api_tokens.filter(({ name }) => name === 'lost').length, 4)
  })

  it('repeats everything else the service refused with 503, and all after 429, when it is time', async (t) => {
    const limited: Fault = { status: 429, headers: { 'retry-after': new Date(Date.now() + 400).toUTCString() } }
    const creating = await unluckyClient(t, there, [limited])
    const { api_token } = await creating.client.createApiToken({ name: 'late', scopes: ['verify'] })
    assert.equal(api_token.name, 'late')
    const { client, proxy } = await unluckyClient(t, there, [unavailable, limited])
    assert.equal((await client.updateTeam({ strict_mapping: false })).team.id, 1)
    const [first = 0, second = 0] = proxy.at
    assert.ok(second - first >= 1000, `waited ${second - first} ms`)
    assert.equal(proxy.seen.length, 3)
  })

  it('gives up after as many repetitions as it was allowed, with what the service said', async (t) => {
    const refused: Fault = { ...unavailable, headers: {} }
    const { client, proxy } = await unluckyClient(t, there, [refused, refused, refused, refused], { retries: 2 })
    const error = await failure(client.getTeam())
    const { code, status, message, requestId } = error
    assert.deepEqual([code, status, message, requestId], ['unavailable', 503, 'Later.', 'r1'])
    const logged = { name: 'UserGroupServiceError', code, message, status, requestId }
    assert.deepEqual(JSON.parse(JSON.stringify(error)), logged)
    assert.equal(proxy.seen.length, 3)
  })

  it('repeats a call three times unless told otherwise', async () => {
    let attempts = 0
    const fetch = () => {
      attempts += 1
      return Promise.reject(new Error('no way'))
    }
    await failure(clientOf(there.service.url, { fetch }).getTeam())
    assert.equal(attempts, 4)
  })

  it('fails at once when it is asked to wait for longer than an answer may take, and tells for how long', async (t) => {
    const limited = { ...unavailable, status: 429, headers: { 'retry-after': '2' } }
    for (const [fault, code] of [
      [{ ...limited, status: 429 }, 'unavailable'],
      [{ ...limited, status: 503 }, 'unavailable'],
      [{ ...limited, status: 502, body: 'bad gateway' }, 'unexpected_answer'],
    ] as const) {
      const { client, proxy } = await unluckyClient(t, there, [fault], { timeoutMs: 1_999 })
      const error = await failure(client.getTeam())
      assert.deepEqual([error.code, error.status, error.retryAfter], [code, fault.status, 2])
      assert.equal(proxy.seen.length, 1)
    }
  })

  it('is told how long to wait by a number of seconds, or by a date and the clock of whoever says it', async () => {
    const now = Date.now()
    const later = (seconds: number) => new Date(now + seconds * 1000).toUTCString()
    for (const [header, date, seconds] of [
      ['7', null, 7],
      [' 0 ', null, 0],
      [later(3602), later(3600), 2],
      [later(-3598), later(-3600), 2],
      [later(3600), later(3602), 0],
      [later(-60), null, 0],
      ['9'.repeat(400), null, 1e9],
      ...['3, 3', '1.5', '-5', '', '0x10', '1e3', '2 seconds', 'soon', 'Sunny', '2099-01-01'].map(
        (odd) => [odd, null, undefined] as const,
      ),
    ] as const) {
      const get = (name: string) => ({ 'retry-after': header, date })[name] ?? null
      const fetch = async () => ({ status: 429, headers: { get }, text: async () => '' })
      const { retryAfter } = await failure(clientOf(there.service.url, { fetch, retries: 0 }).getTeam())
      assert.equal(retryAfter, seconds, header)
    }
  })

  it('does not say that it may have been done where a gateway answered 429', async () => {
    const fetch = async () => ({ status: 429, headers: { get: () => null }, text: async () => 'slow down' })
    const client = clientOf(there.service.url, { fetch, retries: 0 })
    const { code, message } = await failure(client.createSchema({ name: 'Sales' }))
    assert.equal(code, 'unexpected_answer')
    assert.doesNotMatch(message, /may have been created/)
  })

  it('waits as long as it is asked to, and up to five seconds more', () => {
    for (const repetition of [0, 20]) {
      const wait = waitBefore(repetition, 60)
      assert.ok(wait >= 60_000 && wait <= 65_000, `${wait} ms`)
    }
  })

  it('repeats a request that did not arrive in time, creating too', async (t) => {
    const late = { status: 408, body: '{"success":0,"error":{"code":"request_timeout","message":"Again."}}' }
    const { client, proxy } = await unluckyClient(t, there, [late])
    assert.equal((await client.createSchema({ id: 'slow' })).schema.id, 'slow')
    assert.equal(proxy.seen.length, 2)
  })

  it('asks once how the service is', async (t) => {
    for (const call of ['healthz', 'readyz'] as const) {
      const { client, proxy } = await unluckyClient(t, there, [unavailable])
      assert.equal((await failure(client[call]())).code, 'unavailable')
      assert.equal(proxy.seen.length, 1)
    }
  })

  it('repeats nothing the service has decided', async (t) => {
    const { client, proxy } = await unluckyClient(t, there, [], { apiToken: 'not-the-right-one' })
    assert.equal((await failure(client.getTeam())).code, 'invalid_api_token')
    assert.equal(proxy.seen.length, 1)
  })

  it('fails with its own error whatever a fetch of your own fails with', async () => {
    for (const reason of [undefined, null, 'no way', new Error('no way')]) {
      const client = clientOf(there.service.url, { fetch: () => Promise.reject(reason), retries: 0 })
      assert.equal((await failure(client.getTeam())).code, 'connection_failed')
    }
  })

  it('shows its token to nobody who looks at it, its settings or its errors', async (t) => {
    const { client } = await unluckyClient(t, there, ['drop'], { retries: 0 })
    const error = await failure(client.getTeam())
    const bad = { baseUrl: there.service.url, apiToken: `${testApiToken}\n` }
    const complaint = await failureOf(() => new UserGroupService(bad))
    const inUrl = await failureOf(() => new UserGroupService({ ...bad, baseUrl: 'http://me:hush@127.0.0.1' }))
    for (const seen of [client, error, complaint, inUrl])
      assert.doesNotMatch(inspect(seen, { depth: 9, showHidden: true }), new RegExp(`${testApiToken}|hush`))
  })

  it('finds the service whatever its base URL ends with', async () => {
    for (const end of ['/', '//', '?', '#', '/?', '/?#'])
      assert.equal((await clientOf(there.service.url + end).getTeam()).team.id, 1, end)
  })

  it('refuses settings that cannot work', () => {
    const good = { baseUrl: 'http://127.0.0.1', apiToken: testApiToken }
    // As of a module that was imported in the place of its fetch.
    const noFetch = { fetch: {} as typeof fetch }
    const urls = [{ baseUrl: '' }, { baseUrl: 'ftp://x' }]
    for (const bad of [...urls, { timeoutMs: 0 }, { retries: -1 }, { apiToken: '' }, noFetch])
      assert.throws(
        () => new UserGroupService({ ...good, ...bad }),
        new RegExp(`^TypeError: ${Object.keys(bad).join()} must`),
      )
  })
})

async function failureOf(make: () => unknown): Promise<unknown> {
  try {
    return make()
  } catch (error) {
    return error
  }
}
