import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { it } from 'node:test'
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
