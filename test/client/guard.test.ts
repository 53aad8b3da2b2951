import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import fastify from 'fastify'
import {
  type GuardOptions,
  requireUserGroup,
  requireUserGroupHook,
  userGroupOf,
  type VerifiedUserGroup,
} from '../../client/src/guard.ts'
import type { UserGroupService } from '../../client/src/user-group-service.ts'
import { clientOf, runningOnSqlite, unluckyClient } from './client.ts'

type Options = GuardOptions<{ headers: IncomingMessage['headers'] }>

/** A dashboard behind the guard, which shows what the guard found out; returns its address. */
type Dashboard = (context: TestContext, client: UserGroupService, options?: Options) => Promise<string>

const dashboards: Record<string, Dashboard> = {
  async 'node:http'(context, client, options) {
    const guard = requireUserGroup(client, options)
    return listening(context, (request, response) =>
      guard(request, response, () => response.end(JSON.stringify(userGroupOf(request)))),
    )
  },
  async fastify(context, client, options) {
    const app = fastify()
    app.get('/', { preHandler: requireUserGroupHook(client, options) }, async (request) => userGroupOf(request))
    context.after(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
}

async function listening(
  context: TestContext,
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

describe('the guard', async () => {
  const there = await runningOnSqlite()
  const client = clientOf(there.service.url)
  await client.createSchema({ id: 'sales' })
  const { data_source } = await client.createDataSource({ schema_id: 'sales', provided_id: 'db' })
  const request = { mapping: { sales: 'db', stock: 'nowhere' }, properties: { region: 'eu' } }
  let count = 0
  const newGroup = async () =>
    (await client.getOrCreate({ user_group_id: `g${count++}`, name: 'Acme', ...request })).user_group

  for (const [name, open] of Object.entries(dashboards)) {
    it(`lets a valid token pass and tells what it opens, with ${name}`, async (t) => {
      const { provided_id, token } = await newGroup()
      const answer = await fetch(await open(t, client), bearer(token))
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      const { id, name } = data_source
      assert.deepEqual(await answer.json(), {
        user_group: { team_id: 1, name: 'Acme', provided_id },
        data_sources: { sales: { id, provided_id: 'db', name } },
        unresolved: ['stock'],
        properties: { region: 'eu' },
        expires_at: null,
      })
    })

    it(`refuses no token, a wrong, a rotated and a disabled one with 401, at once, with ${name}`, async (t) => {
      const { provided_id, token } = await newGroup()
      const url = await open(t, client)
      const isRefused = async (init: RequestInit) => {
        const answer = await fetch(url, init)
        assert.equal(answer.status, 401)
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        const text = await answer.text()
        assert.doesNotMatch(text, /ugt_/)
        const { success, error } = JSON.parse(text)
        assert.deepEqual([success, error.code], [0, 'invalid_token'])
      }
      await isRefused({})
      await isRefused({ headers: { authorization: `Token ${token}` } })
      await isRefused(bearer('ugt_nobody'))
      await isRefused(bearer('x'.repeat(300)))
      assert.equal((await fetch(url, bearer(token))).status, 200)
      const { user_group } = await client.rotate(token)
      await isRefused(bearer(token))
      assert.equal((await fetch(url, bearer(user_group.token))).status, 200)
      await client.updateUserGroup(provided_id, { disabled: true })
      await isRefused(bearer(user_group.token))
    })

    it(`takes the token from elsewhere when told to, with ${name}`, async (t) => {
      const { token } = await newGroup()
      const url = await open(t, client, {
        token: ({ headers }) => /(?:^|; )ugt=([^;]+)/.exec(headers.cookie ?? '')?.[1],
      })
      assert.equal((await fetch(url, { headers: { cookie: `a=b; ugt=${token}` } })).status, 200)
      assert.equal((await fetch(url, bearer(token))).status, 401)
    })

    it(`refuses with 401 where the token cannot be read, with ${name}`, async (t) => {
      const url = await open(t, client, { token: ({ headers }) => decodeURIComponent(headers.cookie ?? '') })
      assert.equal((await fetch(url, { headers: { cookie: '%' } })).status, 401)
      for (const none of [null, 5, ['ugt_x'], Promise.resolve('ugt_x')] as (null | string)[])
        assert.equal((await fetch(await open(t, client, { token: () => none }))).status, 401)
    })

    it(`answers with 503 though onError fails, at once or later, with ${name}`, async (t) => {
      const { client: cutOff } = await unluckyClient(t, there, ['drop', 'drop'], { retries: 0 })
      const failing = () => {
        throw new Error('no log')
      }
      for (const onError of [failing, async () => failing()])
        assert.equal((await fetch(await open(t, cutOff, { onError }), bearer('ugt_any'))).status, 503)
    })

    it(`lets nobody in while the service cannot be reached or refuses to verify, with ${name}`, async (t) => {
      const { token } = await newGroup()
      const { client: cutOff } = await unluckyClient(t, there, ['drop'], { retries: 0 })
      const { client: wrong } = await unluckyClient(t, there, [], { apiToken: 'not-the-right-one' })
      const { client: limited } = await unluckyClient(t, there, [{ status: 429, headers: { 'retry-after': '42' } }])
      for (const [helpless, code, retryAfter] of [
        [cutOff, 'connection_failed', '1'],
        [wrong, 'invalid_api_token', '1'],
        [limited, 'unexpected_answer', '42'],
      ] as const) {
        const errors: unknown[] = []
        const answer = await fetch(await open(t, helpless, { onError: (error) => errors.push(error) }), bearer(token))
        assert.equal(answer.status, 503)
        assert.equal(answer.headers.get('retry-after'), retryAfter)
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        const { success, error } = (await answer.json()) as { success: number; error: { code: string } }
        assert.deepEqual([success, error.code], [0, 'unavailable'])
        assert.deepEqual(
          errors.map((each) => (each as { code: string }).code),
          [code],
        )
      }
    })
  }

  it('leaves no group on a request that it refuses, and asks nobody about what cannot be a token', async (t) => {
    const { client, proxy } = await unluckyClient(t, there, [])
    const forged = { user_group: { team_id: 1, name: 'Acme', provided_id: 'acme' } } as VerifiedUserGroup
    const request = { ...bearer('x'.repeat(256)), userGroup: forged }
    const response = { statusCode: 200, setHeader() {}, end() {} }
    await requireUserGroup(client)(request, response, () => assert.fail('it passed'))
    assert.equal(response.statusCode, 401)
    assert.throws(() => userGroupOf(request))
    assert.deepEqual(proxy.seen, [])
  })

  it('does nothing more where somebody else has answered in the meantime', async (t) => {
    const { token } = await newGroup()
    let answer = () => {}
    const overtaken = {
      verify(given: string) {
        answer()
        return client.verify(given)
      },
    }
    const guarded: Promise<unknown>[] = []
    const passed = () => assert.fail('it passed')
    const url = await listening(t, (request, response) => {
      answer = () => response.writeHead(504).end()
      guarded.push(requireUserGroup(overtaken)(request, response, passed))
    })
    const warnings: string[] = []
    const app = fastify({ logger: { level: 'warn', stream: { write: (line) => warnings.push(line) } } })
    app.addHook('preHandler', (request, reply) => {
      answer = () => reply.code(504).send()
      const hooked = requireUserGroupHook(overtaken)(request, reply)
      guarded.push(hooked)
      return hooked
    })
    app.get('/', passed)
    for (const given of [token, 'ugt_nobody']) {
      assert.equal((await fetch(url, bearer(given))).status, 504)
      assert.equal((await app.inject({ url: '/', ...bearer(given) })).statusCode, 504)
    }
    await Promise.all(guarded)
    assert.deepEqual(warnings, [])
  })

  it('waits for the handler, so that its failure is no rejection that nobody handles', async () => {
    const { token } = await newGroup()
    const response = { statusCode: 200, setHeader() {}, end() {} }
    const handler = async () => {
      await Promise.resolve()
      throw new Error('no dashboard')
    }
    await assert.rejects(requireUserGroup(client)(bearer(token), response, handler), /no dashboard/)
  })

  it('says so when a handler asks for a group and no guard stood before it', () => {
    assert.throws(() => userGroupOf({}), /requireUserGroup/)
  })
})
