import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UserGroupService } from '../../client/src/user-group-service.ts'
import type { Fault } from '../support/faulty-proxy.ts'
import { clientOf, disturbedClient, failure, runningOnSqlite, unluckyClient } from './client.ts'

const unavailable = { status: 503, body: '{"success":0,"error":{"code":"unavailable","message":"Later."}}' }

const there = await runningOnSqlite()
const direct = clientOf(there.service.url)
await direct.createSchema({ id: 'stock' })

describe('a renaming whose answer is lost', () => {
  it('is found out by the new id of the user group', async (t) => {
    await direct.getOrCreate({ user_group_id: 'old' })
    const { client } = await unluckyClient(t, there, ['pass', 'lose'])
    const change = { provided_id: 'new', disabled: true, properties: { region: 'eu' } }
    const { user_group } = await client.updateUserGroup('old', change)
    assert.deepEqual([user_group.provided_id, user_group.disabled], ['new', true])
  })

  it('is found out by the new id of the data source', async (t) => {
    await direct.createDataSource({ schema_id: 'stock', provided_id: 'old' })
    const { client } = await unluckyClient(t, there, ['pass', 'lose'])
    const { data_source } = await client.updateDataSource('old', { provided_id: 'new' })
    assert.equal(data_source.provided_id, 'new')
  })

  it('is not taken for done where something else has the new id, or another change was made', async () => {
    await direct.getOrCreate({ user_group_id: 'other' })
    await direct.updateUserGroup('other', { name: 'Other' })
    for (const [id, meanwhile] of [
      ['other', () => direct.deleteUserGroup('renamed')],
      ['mine', () => direct.updateUserGroup('renamed', { provided_id: 'mine' })],
    ] as const) {
      await direct.getOrCreate({ user_group_id: 'renamed' })
      const client = disturbedClient(there, { behind: 1, lost: 2 }, meanwhile)
      const change = { provided_id: id, name: 'Other', disabled: id === 'mine' }
      const { code, status, message } = await failure(client.updateUserGroup('renamed', change))
      assert.deepEqual([code, status], ['answer_lost', 404])
      assert.match(message, /look at it by its new id/)
    }
  })
})

describe('a renaming together with other changes, whose answer is lost', () => {
  const before = { mapping: { stock: 'a' }, properties: { plan: { name: 'free', seats: [1, 2] } } }
  const cases: Record<string, object> = {
    properties: { properties: { plan: { name: 'paid', seats: [1, 2] } } },
    'fewer properties': { properties: { plan: { name: 'free' } } },
    'more properties': { properties: { plan: { name: 'free', seats: [1, 2], trial: null } } },
    'an array': { properties: { plan: { name: 'free', seats: { 0: 1, 1: 2 } } } },
    mapping: { mapping: { stock: 'b' } },
  }
  for (const [what, change] of Object.entries(cases))
    it(`is not taken for done where somebody else has renamed it alone: ${what}`, async () => {
      await direct.getOrCreate({ user_group_id: 'half', ...before })
      const rename = () => direct.updateUserGroup('half', { provided_id: 'whole' })
      const client = disturbedClient(there, { behind: 1, lost: 2 }, rename)
      const { code } = await failure(client.updateUserGroup('half', { provided_id: 'whole', ...change }))
      await direct.deleteUserGroup('whole')
      assert.equal(code, 'answer_lost')
    })

  it('is found out by all that can be read back, and left open where a connection was given', async (t) => {
    await direct.getOrCreate({ user_group_id: 'half' })
    const { client } = await unluckyClient(t, there, ['pass', 'lose'])
    const { user_group } = await client.updateUserGroup('half', { provided_id: 'whole', ...before })
    assert.deepEqual([user_group.mapping, user_group.properties], [before.mapping, before.properties])

    await direct.createDataSource({ schema_id: 'stock', provided_id: 'half' })
    const { client: another } = await unluckyClient(t, there, ['pass', 'lose'])
    const change = { provided_id: 'whole', connection: { password: 'new' } }
    assert.equal((await failure(another.updateDataSource('half', change))).code, 'answer_lost')
  })
})

describe('a deletion whose answer is lost', () => {
  const deletions: Record<string, [() => Promise<unknown>, (client: UserGroupService) => Promise<unknown>]> = {
    'user group': [() => direct.getOrCreate({ user_group_id: 'acme' }), (client) => client.deleteUserGroup('acme')],
    schema: [() => direct.createSchema({ id: 'sales' }), (client) => client.deleteSchema('sales')],
    'data source': [
      () => direct.createDataSource({ schema_id: 'stock', provided_id: 'db' }),
      (client) => client.deleteDataSource('db'),
    ],
  }
  for (const [what, [create, remove]] of Object.entries(deletions))
    it(`is done when the ${what} is gone, and never sent a second time, as it might meet a new one`, async (t) => {
      for (const fault of ['lose', { ...unavailable, afterWork: true }] as Fault[]) {
        await create()
        const { client, proxy } = await unluckyClient(t, there, [fault])
        await remove(client)
        assert.equal(proxy.seen.length, 2)
      }
      await create()
      const recreated = disturbedClient(there, { lost: 1 }, create)
      const { code, message } = await failure(remove(recreated))
      assert.equal(code, 'answer_lost')
      assert.match(message, /look at what has it before you repeat/)
      await remove(direct)
    })

  it('is repeated for an API token, whose number no other will have', async (t) => {
    for (const fault of ['drop', 'lose'] as const) {
      const { api_token } = await direct.createApiToken({ name: fault, scopes: ['verify'] })
      const { client, proxy } = await unluckyClient(t, there, [fault])
      await client.revokeApiToken(api_token.id)
      assert.equal(proxy.seen.length, 2)
    }
    assert.equal((await direct.listApiTokens()).api_tokens.length, 1)
  })

  it('is not sent for what cannot be the number of an API token', async (t) => {
    const { client, proxy } = await unluckyClient(t, there, ['drop'])
    for (const id of [0, -1, 1.5, Number.NaN, 2 ** 53, '7', undefined, null] as number[]) {
      const { code, field } = await failure(client.revokeApiToken(id))
      assert.deepEqual([code, field], ['invalid_request', 'id'])
    }
    assert.deepEqual(proxy.seen, [])
  })

  it('fails where nothing was there and no answer was lost', async () => {
    assert.equal((await failure(direct.deleteUserGroup('never was'))).code, 'user_group_not_found')
  })

  it("is not taken for done because of a gateway's own 404", async (t) => {
    const { api_token } = await direct.createApiToken({ name: 'leaked', scopes: ['admin'] })
    await direct.getOrCreate({ user_group_id: 'kept' })
    const calls = [
      (client: UserGroupService) => client.revokeApiToken(api_token.id),
      (client: UserGroupService) => client.deleteUserGroup('kept'),
    ]
    for (const call of calls) {
      const { client, proxy } = await unluckyClient(t, there, ['drop', { status: 404, body: '<h1>Not found</h1>' }])
      assert.equal((await failure(call(client))).code, 'answer_lost')
      assert.equal(proxy.seen.length, 2)
    }
    assert.equal((await clientOf(there.service.url, { apiToken: api_token.token }).getTeam()).team.id, 1)
    assert.equal((await direct.getUserGroup('kept')).user_group.provided_id, 'kept')
  })
})
