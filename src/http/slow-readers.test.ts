import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, Socket } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Exchange } from './exchange.ts'
import { hangUpOnSlowReaders } from './slow-readers.ts'

it('those who have stopped reading are cut off when too much waits for all, and those who read are not', async (t) => {
  const megabytes = 16
  const server = createServer((request, response) => {
    const exchange = new Exchange(request, response)
    const pieces = Array.from({ length: megabytes * 16 }, () => 'x'.repeat(64 * 1024))
    exchange.writeHead(200, 'text/plain', pieces)
    exchange.send(pieces)
    lookAtReader(exchange)
  })
  const lookAtReader = hangUpOnSlowReaders(server)
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: 3 }, () => {
    const client = connect(port, '127.0.0.1').on('error', () => {})
    client.pause().write('GET / HTTP/1.1\r\nHost: test\r\n\r\n')
    return client
  })
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal((await answer.text()).length, megabytes * 1024 * 1024)
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
  for (let turn = 0; turn < 50 && (await open()) > 1; turn += 1) await pause(100)
  assert.equal(await open(), 1, 'only the one who reads is left')
  for (const client of clients) client.destroy()
})

it('who has not read anything for half a minute is cut off, and not before', (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const socket = Object.defineProperties(new Socket(), { writableLength: { value: 1 }, bytesWritten: { value: 1 } })
  hangUpOnSlowReaders(createServer())({ request: { socket }, kept: 0 } as Exchange)
  const pass = (milliseconds: number) => {
    now += milliseconds
    t.mock.timers.tick(250)
  }
  pass(250)
  pass(30_000)
  assert.equal(socket.destroyed, false)
  pass(1)
  assert.equal(socket.destroyed, true)
})
