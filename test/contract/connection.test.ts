import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { type RawRequest, toBytes } from '../support/raw-request.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'

describe('a connection', async () => {
  const [engine] = engines
  if (engine === undefined) throw new Error('no engine')
  const { service } = await running(undefined, engine)

  for (const [path, status] of [
    ['/healthz', 200],
    ['/nowhere', 404],
    ['/api/user', 401],
  ] as const)
    it(`that the client wants closed is said to be closed, also with ${status}`, async () => {
      const asked = request(service.url + path, { headers: { connection: 'close' } }).end()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      assert.equal(answer.statusCode, status)
      assert.equal(answer.headers.connection, 'close')
      assert.equal(answer.headers['keep-alive'], undefined)
    })

  it('on which a body is refused that was not asked for yet is said to be closed, and nothing else', async (t) => {
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    for (const [token, status, connection, keepAlive] of [
      ['nobodys', 401, 'close', undefined],
      [testApiToken, 200, 'keep-alive', 'timeout=72'],
    ] as const) {
      const asked = request(`${service.url}/api/user_groups`, {
        ...{ agent, method: 'POST' },
        headers: { authorization: `Token ${token}`, 'content-type': 'application/json', expect: '100-continue' },
      })
      asked.on('continue', () => asked.end('{"user_group_id":"acme"}')).flushHeaders()
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      answer.resume()
      assert.equal(answer.statusCode, status)
      assert.deepEqual([answer.headers.connection, answer.headers['keep-alive']], [connection, keepAlive])
    }
  })

  it('that stays open is said to do so for 72 seconds', async (t) => {
    const agent = new Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const asked = request(`${service.url}/healthz`, { agent }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.headers.connection, 'keep-alive')
    assert.equal(answer.headers['keep-alive'], 'timeout=72')
  })
})

for (const engine of engines)
  describe(`a client that has said all there is to say, and still listens, on ${engine.name}`, async () => {
    const { service } = await running(undefined, engine)

    it('gets all its answers, and then the end of the connection', async () => {
      const ids = ['one', 'two', 'three']
      const received = await sendAndEnd(service.url, Buffer.concat(ids.map((id) => toBytes(creating(id)))))
      assert.deepEqual(statuses(received), [200, 200, 200])
      assert.deepEqual(
        received.match(/"provided_id":"\w+"/g),
        ids.map((id) => `"provided_id":"${id}"`),
      )
    })

    for (const [what, more] of [
      ['a request', []],
      ['a request for another protocol', [['Connection', 'upgrade'] as const, ['Upgrade', 'h2c'] as const]],
    ] as const)
      it(`is refused at once when ${what} ends early`, async () => {
        const { headers, ...rest } = creating('four')
        const whole = toBytes({ ...rest, headers: [...headers, ...more] })
        assert.deepEqual(statuses(await sendAndEnd(service.url, whole.subarray(0, -1))), [400])
      })
  })

async function sendAndEnd(url: string, bytes: Buffer): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const impatience = setTimeout(() => socket.destroy(new Error('the connection stayed open')), 5_000)
  socket.end(bytes)
  try {
    return (await socket.toArray()).join('')
  } finally {
    clearTimeout(impatience)
    socket.destroy()
  }
}

function statuses(received: string): number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
}

function creating(id: string): RawRequest {
  const body = Buffer.from(JSON.stringify({ user_group_id: id }))
  const headers: RawRequest['headers'] = [
    ['Host', 'test'],
    ['Authorization', `Token ${testApiToken}`],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
  ]
  return { method: 'GET', path: '/api/user', headers, body }
}
