import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { it } from 'node:test'
import { listen, route, wellFormed } from '../../test/support/one-route.ts'
import type { Answer } from './operation.ts'
import { Router } from './router.ts'

it('a server that closes answers what a client sends next that it has answered, and waits for no others', async (t) => {
  const server = await listen(t, 'served', {})
  const { port } = server.address() as AddressInfo
  const clients = [1, 2].map(() => connect(port, '127.0.0.1').setEncoding('latin1'))
  t.after(() => clients.map((client) => client.destroy()))
  for (const client of clients) {
    client.write(wellFormed)
    await once(client, 'data')
  }
  const [returning = assert.fail()] = clients
  const closed = once(server, 'close')
  server.close()
  returning.write(wellFormed)
  const text = (await returning.toArray()).join('')
  assert.match(text, /^HTTP\/1.1 200 .+\r\nConnection: close\r\n/s)
  await closed
})

it('a server that closes sends the rest of the answers it has given', async (t) => {
  const megabytes = 16
  const server = await listen(t, 'x'.repeat(megabytes * 2 ** 20), {})
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  client.write(wellFormed)
  await once(client, 'readable')
  server.close()
  let received = 0
  for await (const chunk of client) received += chunk.length
  assert.ok(received > megabytes * 2 ** 20, `only ${received} bytes came`)
})

for (const [kind, status, settle] of [
  ['an answer', 200, ({ resolve }) => resolve({ type: 'text/plain', content: 'served' })],
  ['a refusal', 500, ({ reject }) => reject(new Error('no'))],
] as [string, number, (answer: PromiseWithResolvers<Answer>) => void][])
  it(`a server that closes says with ${kind} under way that it is the last on its connection`, async (t) => {
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<Answer>()
    const perform = () => {
      asked.resolve()
      return answer.promise
    }
    const server = await listen(t, '', { router: new Router([{ ...route, answer: perform }]) })
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
    t.after(() => client.destroy())
    client.write(wellFormed)
    await asked.promise
    server.close()
    settle(answer)
    const [text] = await once(client, 'data')
    assert.match(text, new RegExp(`^HTTP/1.1 ${status} .+\r\nConnection: close\r\n`, 's'))
  })
