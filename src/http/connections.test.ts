import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { it, type TestContext } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { times } from '../../test/support/times.ts'
import { ExchangesUnderWay } from './connections.ts'
import { Exchange } from './exchange.ts'
import { answerOddRequests } from './odd-requests.ts'

/** A server that answers nothing before `served`; returns a function that connects to it. */
async function listen(t: TestContext, served: Promise<void>) {
  const underWay = new ExchangesUnderWay()
  const server = createServer((request, response) =>
    underWay.begin(new Exchange(request, response), () => served.then(() => response.end('served'))),
  )
  server.on('connection', (socket) => underWay.open(socket))
  answerOddRequests(server, underWay, () => {})
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const send = (text: string) => {
    const client = connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    client.write(text)
    return client
  }
  return { server, send }
}

it('when too many requests wait behind others, whoever sent the most is cut off, and not who sent few', async (t) => {
  const served = Promise.withResolvers<void>()
  const { send } = await listen(t, served.promise)
  const request = 'GET / HTTP/1.1\r\nHost: test\r\n\r\n'
  const modest = send(request.repeat(2))
  const greedy = times(10, () => send(request.repeat(101)))
  const closed = [modest, ...greedy].map((client) => once(client.resume(), 'close').then(() => client))
  assert.ok(greedy.includes(await Promise.race(closed)))
  served.resolve()
  let text = ''
  for await (const chunk of modest.setEncoding('latin1')) {
    text += chunk
    if (text.match(/served/g)?.length === 2) break
  }
  assert.equal(text.match(/served/g)?.length, 2)
})

it('what comes behind a request for a tunnel is read on, but not for long', async (t) => {
  const megabyte = 1024 ** 2
  const { server, send } = await listen(t, Promise.resolve())
  const client = send('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n').resume()
  const [socket] = (await once(server, 'connection')) as [Socket]
  client.write(Buffer.alloc(16 * megabyte))
  await eventually('it is read no further', () => socket.isPaused() || socket.bytesRead >= 2 * megabyte)
  assert.ok(socket.bytesRead < 2 * megabyte, `${socket.bytesRead} bytes were read`)
})

it('who asks for a tunnel may go without a word, before the refusal or behind it', async (t) => {
  const { server, send } = await listen(t, Promise.resolve())
  for (const isRefused of [false, true]) {
    const opened = once(server, 'connection')
    const asked = once(server, 'connect')
    const client = send('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    const [socket] = (await opened) as [Socket]
    // Not by `once`, which would mind errors.
    const { promise: withError, resolve } = Promise.withResolvers<boolean>()
    socket.on('close', resolve)
    await (isRefused ? once(client, 'data') : asked)
    client.resetAndDestroy()
    assert.equal(await withError, true)
  }
})
