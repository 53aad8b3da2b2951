import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { finished } from 'node:stream/promises'
import { describe, it } from 'node:test'
import { type Call, Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'
import { commandsBeside } from './commands.ts'
import { assertError, assertErrorShape, assertFound } from './expectations.ts'
import { RawConnection, requestText } from './raw-connection.ts'

const [sqlite = assert.fail()] = engines
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
const neverIssued = `ugt_${'0'.repeat(38)}`

for (const engine of engines)
  describe(`an error on ${engine.name}`, async () => {
    const { caller, service, environment } = await running(undefined, engine)
    const verifier = await commandsBeside(environment).makeApiToken('--scope', 'verify')
    const secrets = new Set<string>()
    const as = (apiToken: string) => ({ headers: { authorization: `Token ${apiToken}` } })

    it('has one shape and a status of its own, whatever the code', async () => {
      const { token } = (await caller.getOrCreate(randomUUID())).body.user_group
      await caller.rotate(token)
      const text = '{}'
      assertError(await caller.call('GET', '/api/user', { text: '{' }), 400, 'invalid_json')
      assertError(await caller.call('POST', '/api/user'), 400, 'missing_body')
      const lost = { headers: { 'content-type': 'text/plain' } }
      assertError(await caller.call('POST', '/api/user', lost), 400, 'missing_body')
      assertError(await caller.getOrCreate(7), 400, 'invalid_request', 'user_group_id')
      const anonymous = { headers: { authorization: '' }, text }
      assertError(await caller.call('GET', '/api/user', anonymous), 401, 'unauthenticated')
      assertError(await caller.call('GET', '/api/user', { ...as('x'), text }), 401, 'invalid_api_token')
      assertError(await caller.call('GET', '/api/user', { ...as(verifier.token), text }), 403, 'insufficient_scope')
      assertError(await caller.call('GET', '/nowhere'), 404, 'not_found')
      assertError(await caller.rotate(neverIssued), 404, 'token_not_found')
      assertError(await caller.call('PUT', '/api/user', { text }), 405, 'method_not_allowed')
      assertError(await caller.rotate(token), 409, 'token_already_rotated')
      const large = { text: ' '.repeat(300 * 1024) }
      assertError(await caller.call('POST', '/api/user', large), 413, 'body_too_large')
      const plain = { headers: { 'content-type': 'text/plain' }, text }
      assertError(await caller.call('POST', '/api/user', plain), 415, 'unsupported_media_type')
    })

    it('names the field at fault', async () => {
      const id = randomUUID()
      assertError(await caller.getOrCreate(id, { name: 1 }), 400, 'invalid_request', 'name')
      assertError(await caller.getOrCreate(id, { mapping: [] }), 400, 'invalid_request', 'mapping')
      assertError(await caller.getOrCreate(id, { mapping: { sales: 1 } }), 400, 'invalid_request', 'mapping.sales')
      assertError(await caller.getOrCreate(id, { properties: [] }), 400, 'invalid_request', 'properties')
      assertError(await caller.rotate(neverIssued, { grace_seconds: -1 }), 400, 'invalid_request', 'grace_seconds')
    })

    it('is 404 at every path the service does not know', async () => {
      const paths = ['/', '/api', '/api/', '/videos', '/api/user/x', '/api/users', '/api/user.json', '/API/USER']
      for (const path of paths) assertError(await caller.call('GET', path), 404, 'not_found')
    })

    for (const method of methods)
      it(`is 404 at an unknown path with ${method}, with and without a body`, async () => {
        for (const call of [{}, { text: '{}' }, { text: 'x', headers: { 'content-type': 'text/plain' } }]) {
          const answer = await caller.call(method, '/api/nowhere', call)
          if (method === 'HEAD') assert.equal(answer.status, 404)
          else assertError(answer, 404, 'not_found')
        }
      })

    it('is 405 with the methods a path does take, at every path the service knows', async () => {
      const always: Record<string, string[]> = {
        '/api/user': ['GET', 'POST'],
        '/api/user/': ['GET', 'POST'],
        '/api/user_groups': ['POST'],
        '/healthz': ['GET'],
        '/readyz': ['GET'],
      }
      for (const [path, takes] of Object.entries(always)) {
        const { headers } = await caller.call('DELETE', path)
        const allowed = String(headers.allow).split(', ')
        for (const method of takes) assert.ok(allowed.includes(method), `${method} ${path} is not in ${headers.allow}`)
        for (const method of methods.filter((method) => !allowed.includes(method) && method !== 'HEAD')) {
          const answer = await caller.call(method, path, { text: '{}' })
          assertError(answer, 405, 'method_not_allowed')
          assert.equal(answer.headers.allow, headers.allow)
        }
      }
      assert.equal((await caller.call('DELETE', '/api/user')).headers.allow, 'GET, POST')
    })

    it('answers CONNECT too', async () => {
      const connection = new RawConnection(service.url).send(requestText('CONNECT', 'example.com:443'))
      const answer = await connection.answer()
      connection.close()
      assert.ok(answer.status >= 400 && answer.status < 500)
      assertErrorShape(answer)
    })

    it('carries the request id of the caller', async () => {
      for (const id of ['order-42', '7', '0123456789', 'Retry_1.of-3', randomUUID()]) {
        const { body } = await caller.call('GET', '/nowhere', { headers: { 'x-request-id': id } })
        assert.equal(body.request_id, id)
      }
    })

    it('carries one of its own when the caller sent none, or none that is fit to log', async () => {
      const insane = [
        '',
        ' ',
        'a b',
        'x'.repeat(1000),
        '<script>',
        '"',
        "'",
        '{"a":1}',
        '%n$(x)',
        'a\tb',
        'é',
        ';',
        '\\',
      ]
      const seen = new Set<string>()
      for (const id of insane) {
        const { headers, body } = await caller.call('GET', '/nowhere', { headers: { 'x-request-id': id } })
        assert.match(body.request_id, /^[\w.-]{8,128}$/)
        assert.notEqual(headers['x-request-id'], id)
        seen.add(body.request_id)
      }
      seen.add((await caller.call('GET', '/nowhere')).body.request_id)
      assert.equal(seen.size, insane.length + 1)
    })

    for (const [place, put] of Object.entries<(secret: string) => [method: string, path: string, call: Call]>({
      'the request id': (secret) => ['GET', '/nowhere', { headers: { 'x-request-id': secret } }],
      'a part of the request id': (secret) => ['GET', '/nowhere', { headers: { 'x-request-id': `retry-${secret}` } }],
      'the request id of a stranger': (secret) => [
        'GET',
        '/api/user',
        { headers: { authorization: '', 'x-request-id': secret } },
      ],
      'the path': (secret) => ['GET', `/nowhere/${secret}`, {}],
      'the query': (secret) => ['GET', `/api/user?token=${secret}`, {}],
      'another scheme': (secret) => ['GET', '/api/user', { headers: { authorization: `Bearer ${secret}` } }],
      'the content type': (secret) => ['GET', '/api/user', { text: '{}', headers: { 'content-type': secret } }],
      'broken JSON': (secret) => ['POST', '/api/user', { text: `{"current_token":"${secret}"` }],
      'a body that is no object': (secret) => ['POST', '/api/user', { text: `"${secret}"` }],
      'a field of the wrong type': (secret) => ['POST', '/api/user', { json: { current_token: [secret] } }],
      'a token that is not quite one': (secret) => ['POST', '/api/user', { json: { current_token: `${secret}x` } }],
      'a mapping value': (secret) => wish({ mapping: { sales: [secret] } }),
      'a mapping key': (secret) => wish({ mapping: { [secret]: 1 } }),
      'a property': (secret) => [
        'GET',
        '/api/user',
        { text: `{"user_group_id":"x","properties":{"${secret}":1e999}}` },
      ],
    }))
      it(`never carries a token the caller put into ${place}`, async () => {
        const { token } = (await caller.getOrCreate(randomUUID())).body.user_group
        for (const secret of [token, testApiToken, verifier.token]) {
          const answer = await caller.call(...put(secret))
          assertErrorShape(answer)
          secrets.add(secret)
          const said = JSON.stringify([answer.headers, answer.body])
          assert.ok(!said.includes(secret), `${secret} is in ${said}`)
        }
      })

    it('leaves the service as it was, and no token in its log', async () => {
      assertFound(await caller.getOrCreate(randomUUID()), true)
      await caller.call('GET', '/nowhere', { headers: { 'x-request-id': 'the-last-request' } })
      assert.equal(await service.stop(), 0)
      assert.ok(service.process.stdout)
      await finished(service.process.stdout)
      const { stdout, stderr } = service.output()
      assert.match(stdout, /the-last-request/)
      for (const secret of secrets) assert.ok(!`${stdout}${stderr}`.includes(secret), `the log carries ${secret}`)
    })
  })

function wish(more: Record<string, unknown>): [method: string, path: string, call: Call] {
  return ['GET', '/api/user', { json: { user_group_id: 'x', ...more } }]
}

it('an error does not repeat the API token of the caller from the name of a field, whatever its form', async (t) => {
  const token = 'chosen-by-an-operator-0123456789'
  const { service } = await running(t, sqlite, { UGS_API_TOKEN: token })
  const caller = new Caller(service.url, token)
  t.after(() => caller.close())
  for (const key of [token, `a ${token} in it`, token.padEnd(80, 'x')]) {
    const answer = await caller.getOrCreate(randomUUID(), { mapping: { [key]: 1 } })
    assertError(answer, 400, 'invalid_request')
    assert.ok(!JSON.stringify(answer.body).includes(token.slice(0, 20)), JSON.stringify(answer.body))
  }
})
