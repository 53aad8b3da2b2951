import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import { request as undiciRequest } from 'undici'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'
import { assertError, assertFound, assertRotated } from './expectations.ts'
import { RawConnection, requestText } from './raw-connection.ts'

type Client = (url: string, method: 'GET' | 'POST', body: string) => Promise<Answer>

const headers = { authorization: `Token ${testApiToken}`, 'content-type': 'application/json' }

const clients: Record<string, Client> = {
  curl: (url, method, body) => curl('-X', method, '--data-binary', body, url),
  'curl that asks before it sends': (url, method, body) =>
    curl('-X', method, '-H', 'Expect: 100-continue', '--data-binary', body, url),
  'curl over HTTP/1.0': (url, method, body) => curl('--http1.0', '-X', method, '--data-binary', body, url),
  'curl that would like HTTP/2': (url, method, body) => curl('--http2', '-X', method, '--data-binary', body, url),
  async undici(url, method, body) {
    const answer = await undiciRequest(url, { method, body, headers })
    return { status: answer.statusCode, headers: answer.headers, body: await answer.body.json() }
  },
  'node:http in chunks': async (url, method, body) => {
    const request = httpRequest(url, { method, headers: { ...headers, 'transfer-encoding': 'chunked' } })
    const half = Math.floor(body.length / 2)
    request.write(body.slice(0, half))
    request.end(body.slice(half))
    const [answer]: IncomingMessage[] = await once(request, 'response')
    assert.ok(answer)
    const text = (await answer.setEncoding('utf8').toArray()).join('')
    return { status: answer.statusCode ?? 0, headers: answer.headers, body: JSON.parse(text) }
  },
}

async function curl(...args: string[]): Promise<Answer> {
  const common = ['-sS', '-i', '--max-time', '20', '--noproxy', '*']
  const credentials = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const child = spawn('curl', [...common, ...credentials, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const missing = once(child, 'error').then(() => assert.fail('curl is missing: install it to run this test'))
  const finished = Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  const [stdout, stderr, [code]] = await Promise.race([finished, missing])
  assert.equal(code, 0, stderr.join(''))
  const parts = stdout.join('').split('\r\n\r\n')
  const lines = (parts.at(-2) ?? '').split('\r\n')
  return {
    status: Number(lines[0]?.split(' ')[1]),
    headers: Object.fromEntries(lines.slice(1).map((line) => line.toLowerCase().split(': '))),
    body: JSON.parse(parts.at(-1) ?? ''),
  }
}

const lookUp = (id: string, more: Record<string, string> = {}) =>
  requestText('GET', '/api/user', JSON.stringify({ user_group_id: id }), more)

for (const engine of engines.slice(0, 1)) {
  describe('a client', async () => {
    const { service } = await running(undefined, engine)
    const url = `${service.url}/api/user`

    for (const [name, call] of Object.entries(clients))
      it(`such as ${name} can create, find and rotate`, async () => {
        const wish = JSON.stringify({ user_group_id: randomUUID(), name: 'Café 😀' })
        const made = await call(url, 'GET', wish)
        assertFound(made, true)
        assert.equal(made.body.user_group.name, 'Café 😀')
        const current = JSON.stringify({ current_token: made.body.user_group.token })
        const rotated = await call(url, 'POST', current)
        assertRotated(rotated)
        assertError(await call(url, 'POST', current), 409, 'token_already_rotated')
        const found = await call(url, 'GET', wish)
        assertFound(found, false)
        assert.deepEqual(found.body.user_group, rotated.body.user_group)
      })

    it('such as fetch, which sends no body with a GET, can use the twin', async () => {
      const body = JSON.stringify({ user_group_id: randomUUID() })
      const answer = await fetch(`${service.url}/api/user_groups`, { method: 'POST', headers, body })
      assertFound(
        { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.json() },
        true,
      )
    })
  })

  describe('a connection', async () => {
    const { service } = await running(undefined, engine)

    const withConnection = async (use: (connection: RawConnection) => Promise<void>) => {
      const connection = new RawConnection(service.url)
      try {
        await use(connection)
      } finally {
        connection.close()
      }
    }

    it('may carry requests one behind the other, and answers them in order', () =>
      withConnection(async (connection) => {
        const ids = Array.from({ length: 10 }, () => randomUUID())
        connection.send(ids.map((id) => lookUp(id)).join(''))
        for (const id of ids) {
          const answer = await connection.answer()
          assertFound(answer, true)
          assert.equal(answer.body.user_group.provided_id, id)
        }
      }))

    it('answers a good request whole before it complains about the garbage behind it', () =>
      withConnection(async (connection) => {
        const id = randomUUID()
        connection.send(`${lookUp(id)}garbage\r\n\r\n`)
        const answer = await connection.answer()
        assertFound(answer, true)
        assert.equal(answer.body.user_group.provided_id, id)
        assertError(await connection.answer(), 400, 'invalid_request')
        assert.equal(await connection.rest(), '')
      }))

    it('goes on after an error', () =>
      withConnection(async (connection) => {
        const mistakes = [
          [requestText('GET', '/api/user', '{"user_group_id":'), 400],
          [requestText('GET', '/api/user', '{}'), 400],
          [requestText('GET', '/api/user'), 400],
          [requestText('POST', '/api/user', '{"current_token":"x"}'), 404],
          [requestText('GET', '/nowhere'), 404],
        ] as const
        for (const [text, status] of mistakes) {
          assert.equal((await connection.send(text).answer()).status, status)
          assertFound(await connection.send(lookUp(randomUUID())).answer(), true)
        }
      }))

    it('never takes the body of a refused request for a request', async () => {
      const inner = lookUp(randomUUID())
      for (const [method, path, more] of [
        ['GET', '/api/user', { Authorization: 'Token wrong' }],
        ['GET', '/api/user', { 'Content-Type': 'text/plain' }],
        ['GET', '/api/user', { 'Content-Encoding': 'gzip' }],
        ['PUT', '/api/user', {}],
        ['POST', '/nowhere', {}],
        ['GET', '/%', {}],
      ] as [string, string, Record<string, string>][])
        await withConnection(async (connection) => {
          const next = requestText('GET', '/healthz', '', { Connection: 'close' })
          connection.send(requestText(method, path, inner, more))
          assert.ok((await connection.answer()).status >= 400)
          const rest = await connection.send(next).rest()
          assert.doesNotMatch(rest, /user_group/)
          assert.ok(rest.split('HTTP/1.1 ').length <= 2, rest)
        })
    })

    it('is closed after a request behind which nobody can be sure where the next one begins', async () => {
      const body = JSON.stringify({ user_group_id: randomUUID() })
      const upgrade = { Connection: 'Upgrade', Upgrade: 'h2c' }
      const chunks = { 'Content-Length': '', 'Transfer-Encoding': 'chunked', Connection: 'keep-alive' }
      const inChunks = requestText('GET', '/api/user', `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`, chunks)
      for (const first of [
        requestText('GET', '/api/user', body, upgrade),
        requestText('GET', '/api/user', '{', upgrade),
        requestText('GET', '/nowhere', '', upgrade),
        inChunks.replace('HTTP/1.1', 'HTTP/1.0'),
      ])
        await withConnection(async (connection) => {
          const answer = await connection.send(first, lookUp(randomUUID())).answer()
          assert.equal(answer.headers.connection, 'close')
          assert.equal(await connection.rest(), '')
        })
    })

    it('is closed when its client asks for it', () =>
      withConnection(async (connection) => {
        const answer = await connection.send(lookUp(randomUUID(), { Connection: 'close' })).answer()
        assertFound(answer, true)
        assert.equal(await connection.rest(), '')
      }))
  })
}
