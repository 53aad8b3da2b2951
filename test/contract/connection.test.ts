import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'

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
