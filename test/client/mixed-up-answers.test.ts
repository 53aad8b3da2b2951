import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UserGroupService } from '../../client/src/user-group-service.ts'
import type { Fault } from '../support/faulty-proxy.ts'
import { clientOf, failure, runningOnSqlite, unluckyClient } from './client.ts'

describe('an answer to something else', async () => {
  const there = await runningOnSqlite()
  const direct = clientOf(there.service.url)
  await direct.getOrCreate({ user_group_id: 'first' })
  await direct.getOrCreate({ user_group_id: 'second' })
  for (const id of ['one', 'two']) await direct.createSchema({ id })
  for (const provided_id of ['db1', 'db2']) await direct.createDataSource({ schema_id: 'one', provided_id })

  const pairs: Record<string, [(client: UserGroupService) => unknown, (client: UserGroupService) => Promise<unknown>]> =
    {
      getOrCreate: [
        (c) => c.getOrCreate({ user_group_id: 'first' }),
        (c) => c.getOrCreate({ user_group_id: 'second' }),
      ],
      getUserGroup: [(c) => c.getUserGroup('first'), (c) => c.getUserGroup('second')],
      updateUserGroup: [(c) => c.getUserGroup('first'), (c) => c.updateUserGroup('second', { name: 'x' })],
      rotate: [(c) => c.getOrCreate({ user_group_id: 'first' }), (c) => c.rotate('ugt_x', { provided_id: 'second' })],
      verify: [(c) => c.getUserGroup('first'), (c) => c.verify('ugt_x')],
      getSchema: [(c) => c.getSchema('one'), (c) => c.getSchema('two')],
      getDataSource: [(c) => c.getDataSource('db1'), (c) => c.getDataSource('db2')],
      updateDataSource: [(c) => c.getDataSource('db1'), (c) => c.updateDataSource('db2', { name: 'x' })],
    }
  for (const [method, [cached, asked]] of Object.entries(pairs))
    it(`is refused by ${method}: a cache in between handed it out`, async (t) => {
      const { client, proxy } = await unluckyClient(t, there, ['pass', 'stale'])
      await cached(client)
      const { code, status, message } = await failure(asked(client))
      assert.deepEqual([code, status], ['unexpected_answer', 200])
      assert.match(message, /cache or proxy/)
      assert.equal(proxy.seen.length, 2)
    })

  const foreign: Fault[] = [
    { status: 200, body: '<html>Log in</html>' },
    { status: 200, body: 'null' },
    { status: 200, body: '{"user_group":{"provided_id":"first"}}' },
    { status: 404, body: 'no such site' },
    { status: 302, headers: { location: 'https://login.example.com/' } },
    { status: 500, body: '{"success":0,"error":"?"}' },
  ]
  for (const fault of foreign)
    it(`is no answer of the service: ${JSON.stringify(fault)}`, async (t) => {
      const { client, proxy } = await unluckyClient(t, there, [fault])
      const { code, message } = await failure(client.getUserGroup('first'))
      assert.equal(code, 'unexpected_answer')
      assert.match(message, /baseUrl/)
      assert.equal(proxy.seen.length, 1)
    })

  it('is named by its type, and by nothing behind that', async (t) => {
    for (const [type, named] of [
      ['text/html; charset="ugt_secret"', '(status 200, text/html)'],
      ['', '(status 200, no type)'],
    ] as const) {
      const { client } = await unluckyClient(t, there, [{ status: 200, headers: { 'content-type': type } }])
      const { message } = await failure(client.getTeam())
      assert.ok(message.includes(named), message)
      assert.doesNotMatch(message, /ugt_/)
    }
  })

  for (const method of ['userGroups', 'events'] as const)
    it(`ends a walk through ${method}, which would never end`, async (t) => {
      const { client, proxy } = await unluckyClient(t, there, ['pass', 'stale'])
      const seen: unknown[] = []
      const walk = async () => {
        for await (const each of client[method]({ limit: 1 })) seen.push(each)
      }
      assert.equal((await failure(walk())).code, 'unexpected_answer')
      assert.deepEqual([seen.length, proxy.seen.length], [1, 2])

      const without = ['{"success":1,"next_cursor":null}', '{"success":1,"user_groups":[],"events":[]}']
      for (const body of without) {
        const { client, proxy } = await unluckyClient(t, there, [{ status: 200, body }])
        assert.equal((await failure(Array.fromAsync<unknown>(client[method]()))).code, 'unexpected_answer')
        assert.equal(proxy.seen.length, 1)
      }
    })

  it('leaves open whether something was created or rotated, and says what to do', async (t) => {
    const { token } = (await direct.getOrCreate({ user_group_id: 'third' })).user_group
    const calls: [(client: UserGroupService) => Promise<unknown>, RegExp][] = [
      [(client) => client.createApiToken({ name: 'cut', scopes: ['verify'] }), /created: ask listApiTokens before/],
      [(client) => client.rotate(token), /rotated: .* getOrCreate .* provided_id/],
    ]
    for (const [call, advice] of calls)
      for (const status of [200, 500]) {
        const { client, proxy } = await unluckyClient(t, there, [{ status, body: '{"success":1', afterWork: true }])
        const error = await failure(call(client))
        assert.deepEqual([error.code, error.status], ['unexpected_answer', status])
        assert.match(error.message, advice)
        assert.equal(proxy.seen.length, 1)
      }
  })
})
