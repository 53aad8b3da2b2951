import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../test/support/eventually.ts'
import { lingerOver, lingerWhenClosing } from './linger.ts'

const megabyte = 1024 ** 2

for (const { sent, least, most } of [
  { sent: megabyte / 2, least: megabyte / 2, most: megabyte },
  { sent: 16 * megabyte, least: megabyte, most: 2 * megabyte },
])
  it(`a refused body of ${sent / megabyte} MB is read on, but not for long`, async (t) => {
    const server = createServer((request, response) => {
      lingerOver(request)
      response.writeHead(413, { Connection: 'close' }).end()
    })
    lingerWhenClosing(server)
    t.after(() => server.close())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    const [socket] = (await once(server, 'connection')) as [Socket]
    client.write(`POST / HTTP/1.1\r\nHost: test\r\nContent-Length: ${sent}\r\n\r\n`)
    client.write(Buffer.alloc(sent))
    client.resume()
    await once(socket, 'close')
    assert.ok(socket.bytesRead >= least && socket.bytesRead < most, `${socket.bytesRead} bytes were read`)
  })

it('of a refused body in chunks of a byte few are read and none kept, and who goes on sending still gets the answer', async (t) => {
  let refused: IncomingMessage | undefined
  const server = createServer((request, response) => {
    refused = request
    lingerOver(request)
    response.writeHead(401, { 'Content-Length': 0 }).end()
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
  t.after(() => client.destroy())
  const crumbs = '1\r\nx\r\n'.repeat(20_000)
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.write(`POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n${crumbs}`)
  await eventually('it is read no further', () => socket.isPaused())
  client.write(crumbs)
  await pause(50)
  assert.ok(socket.bytesRead < crumbs.length, `${socket.bytesRead} bytes were read`)
  assert.equal(refused?.readableLength, 0)
  assert.match(String(client.read()), /^HTTP\/1\.1 401 /)
})

it('a connection on which a body was refused stays, once all of the body has come', async (t) => {
  const server = createServer((request, response) => {
    lingerOver(request)
    response.writeHead(400, { 'Content-Length': 0 }).end()
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ask = async () => {
    client.write('POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n')
    await once(client, 'data')
  }
  await ask()
  t.mock.timers.tick(1_000)
  client.write('{}')
  await ask()
  t.mock.timers.tick(1_999)
  assert.equal(socket.destroyed, false, 'the first body has come')
  t.mock.timers.tick(1)
  assert.equal(socket.destroyed, true, 'the second has not')
})
