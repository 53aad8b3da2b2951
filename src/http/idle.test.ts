import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ExchangesUnderWay } from './connections.ts'
import { hangUpOnIdle } from './idle.ts'

const idle = 600

it('a connection is closed when nothing has come or gone for a while, and not while anything does', async (t) => {
  const server = createServer({ keepAliveTimeout: 0 }, async (_, response) => {
    for (let piece = 0; piece < 8; piece += 1) {
      response.write('x')
      await pause(idle / 4)
    }
    response.end()
  })
  const underWay = new ExchangesUnderWay()
  server.on('connection', (socket) => underWay.open(socket))
  hangUpOnIdle(server, underWay, idle)
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo

  const client = connect(port, '127.0.0.1').setEncoding('latin1')
  t.after(() => client.destroy())
  let received = ''
  client.on('data', (text) => {
    received += text
  })
  client.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
  const asked = performance.now()
  await once(client, 'close')
  const answeredFor = 2 * idle
  assert.match(received, /\r\n0\r\n\r\n$/, 'the answer came whole')
  assert.ok(performance.now() - asked > answeredFor + 0.9 * idle, 'and the connection was kept for a while')
})
