import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
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
    })
})

for (const engine of engines)
  describe(`a client that has said all there is to say, and still listens, on ${engine.name}`, async () => {
    const { service } = await running(undefined, engine)

    it('gets all its answers, and then the end of the connection', async () => {
      const { hostname, port } = new URL(service.url)
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      socket.end(Buffer.concat(['one', 'two', 'three'].map((id) => toBytes(creating(id)))))
      const received = (await socket.toArray()).join('')
      socket.destroy()
      assert.deepEqual(received.match(/HTTP\/1\.1 \d+/g), Array(3).fill('HTTP/1.1 200'))
      assert.deepEqual(
        received.match(/"provided_id":"\w+"/g),
        ['one', 'two', 'three'].map((id) => `"provided_id":"${id}"`),
      )
    })
  })

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
