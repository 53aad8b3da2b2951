import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { eventually } from '../../test/support/eventually.ts'
import { bodiless, listen, route, serve, wellFormed } from '../../test/support/one-route.ts'
import type { Exchange } from './exchange.ts'
import { Router } from './router.ts'

it('of requests that are answered together, one whose answer cannot be sent fails alone', async (t) => {
  const answer = (_: unknown, __: unknown, body: unknown) => ({
    type: body === 3 ? 'not\na type' : 'text/plain',
    content: 'served',
  })
  const url = await serve(t, '', { router: new Router([{ ...route, answer }]) })
  const post = async (body: number) => {
    const answered = await fetch(url, {
      method: 'POST',
      body: String(body),
      headers: { 'content-type': 'application/json' },
    })
    return answered.status
  }
  // Once before, so that all connections are there and the requests come at once.
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5].map(post)), [200, 200, 500, 200, 200])
})

it('waits for others only while more than two connections are open that have asked more than once', async (t) => {
  const server = await listen(t, 'served', {})
  const { port } = server.address() as AddressInfo
  const wait = t.mock.method(Atomics, 'wait')
  const clients = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'))
  t.after(() => clients.map((client) => client.destroy()))
  const waitsForEach = async () => {
    const waits = []
    for (const client of clients) {
      const before = wait.mock.callCount()
      client.write('POST /any HTTP/1.1\r\nHost: test\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}')
      await once(client, 'data')
      waits.push(wait.mock.callCount() - before)
    }
    return waits
  }
  const keep = async (count: number) => {
    for (const client of clients.splice(count)) client.destroy()
    await eventually('the others are gone', async () => {
      const { promise, resolve } = Promise.withResolvers<number>()
      server.getConnections((_, open) => resolve(open))
      return (await promise) === count
    })
  }
  assert.deepEqual(await waitsForEach(), [0, 0, 0, 0, 0])
  await keep(4)
  // The wait of the third was in vain.
  assert.deepEqual(await waitsForEach(), [0, 0, 1, 0])
  await keep(2)
  for (let time = 0; time < 3; time += 1) assert.deepEqual(await waitsForEach(), [0, 0])
})

it('a connection that nobody uses is closed after 72 seconds, and not before', async (t) => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const url = new URL(await serve(t, 'served', {}))
  t.mock.timers.tick(1_000)
  const client = connect(Number(url.port), url.hostname)
  t.after(() => client.destroy())
  client.write('POST /any HTTP/1.1\r\nHost: test\r\n\r\n')
  await once(client, 'data')
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      now += 1_000
      t.mock.timers.tick(1_000)
    }
  }
  let isClosed = false
  client.once('end', () => {
    isClosed = true
  })
  pass(72)
  await pause(100)
  assert.equal(isClosed, false)
  pass(2)
  for (let turn = 0; turn < 50 && !isClosed; turn += 1) await pause(100)
  assert.equal(isClosed, true)
})

it('however many large bodies end at once, one with a brief body does not wait for all of them', async (t) => {
  const served: string[] = []
  const url = new URL(await serve(t, 'served', { onAnswered: (_, exchange) => served.push(lengthOf(exchange)) }))
  const lengthOf = (exchange?: Exchange) => exchange?.request.headers['content-length'] ?? ''
  const clients = Array.from({ length: 21 }, () => connect(Number(url.port), url.hostname).resume())
  t.after(() => clients.map((client) => client.destroy()))
  const head = 'POST /any HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: '
  for (const [index, client] of clients.entries())
    client.write(index < 20 ? `${head}10000\r\n\r\n${' '.repeat(9_998)}` : `${head}2\r\n\r\n`)
  await pause(100)
  for (const client of clients) client.write('{}')
  await eventually('all are answered', () => served.length === clients.length)
  assert.ok(served.indexOf('2') < 10, `it was answered as number ${served.indexOf('2') + 1}`)
})

it('however many ask for something long at once, one who asks for something brief does not wait for all of them', async (t) => {
  const served: string[] = []
  const url = new URL(await serve(t, 'served', { onAnswered: (_, exchange) => served.push(kindOf(exchange)) }))
  const kindOf = (exchange?: Exchange) => (exchange?.request.headers['x-request-id'] === 'brief' ? 'brief' : 'long')
  const clients = Array.from({ length: 21 }, () => connect(Number(url.port), url.hostname).resume())
  t.after(() => clients.map((client) => client.destroy()))
  const head = 'POST /any HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n'
  const list = 'Authorization: Token any\r\n\r\n'
  const askAtOnce = async (last: string) => {
    served.length = 0
    for (const [index, client] of clients.entries()) client.write(`${head}${index < 20 ? list : last}`)
    await eventually('all are answered', () => served.length === clients.length)
  }
  // Once before, so that all connections have been accepted.
  await askAtOnce(list)
  const withBody = 'X-Request-Id: brief\r\nAuthorization: Token any\r\nContent-Length: 2\r\n\r\n{}'
  const withoutToken = 'X-Request-Id: brief\r\n\r\n'
  for (const brief of [withBody, withoutToken]) {
    await askAtOnce(brief)
    assert.ok(served.includes('brief'))
    assert.ok(served.indexOf('brief') < 10, `it was answered as number ${served.indexOf('brief') + 1}`)
  }
})

it('however many are overdue at once, no more than one of them is cut off in a turn of the event loop', async (t) => {
  const slow = 50
  let turn = 0
  let isDone = false
  const next = () => {
    turn += 1
    if (!isDone) setImmediate(next)
  }
  const turns: number[] = []
  const server = await listen(t, 'served', { onAnswered: (status) => status === 408 && turns.push(turn) })
  server.headersTimeout = 100
  const { port } = server.address() as AddressInfo
  const clients = Array.from({ length: slow }, () => connect(port, '127.0.0.1').resume())
  t.after(() => clients.map((client) => client.destroy()))
  for (const client of clients) client.write('POST /any HTTP/1.1\r\nHost: test\r\nX-Slow: ')
  setImmediate(next)
  await eventually('all are cut off', () => turns.length === slow)
  isDone = true
  assert.equal(new Set(turns).size, slow)
})

for (const [kind, request, status] of [
  ['that expects a miracle', wellFormed.replace('Host', 'Expect: miracles\r\nHost'), 417],
  ['for a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['whose body breaks off', wellFormed.replace('Length: 2', 'Length: 5'), 400],
  [
    'with a chunk that is none',
    wellFormed.replace(/Content-Length.*/s, 'Transfer-Encoding: chunked\r\n\r\nx\r\n'),
    400,
  ],
] as const)
  it(`a request ${kind} is answered and counted once, and none behind it performed`, async (t) => {
    const counted: number[] = []
    const url = new URL(await serve(t, 'served', { onAnswered: (status) => counted.push(status) }))
    const client = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true })
    t.after(() => client.destroy())
    client.write(wellFormed + request + (kind.includes('breaks off') ? '' : wellFormed))
    const received = client.setEncoding('utf8').toArray()
    if (kind.includes('breaks off')) client.end()
    const statuses = (await received).join('').match(/(?<=HTTP\/1\.1 )\d+/g)
    assert.deepEqual(statuses, ['200', String(status)])
    await pause(50)
    assert.deepEqual(counted.toSorted(), [200, status])
  })

it('a request with a chunk that is none is counted once, where no body is read either', async (t) => {
  const counted: number[] = []
  const answer = async () => ({ type: 'text/plain', content: 'served' })
  const router = new Router([{ ...route, takesBody: false, answer }])
  const url = new URL(await serve(t, '', { router, onAnswered: (status) => counted.push(status) }))
  const client = connect(Number(url.port), url.hostname)
  t.after(() => client.destroy())
  client.write('POST /any HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n')
  const received = (await client.setEncoding('utf8').toArray()).join('')
  assert.deepEqual(received.match(/(?<=HTTP\/1\.1 )\d+/g), ['400'])
  await pause(50)
  assert.deepEqual(counted, [400])
})

it('who does not read a refusal is cut off like who does not read an answer', async (t) => {
  let now = performance.now()
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const server = await listen(t, '', { router: new Router([]) })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  const [socket] = await once(server, 'connection')
  // As if the system took nothing.
  Object.defineProperties(socket, { writableLength: { value: 1 }, bytesWritten: { value: 1 } })
  client.write(bodiless)
  await once(client, 'readable')
  for (const milliseconds of [250, 30_001]) {
    now += milliseconds
    t.mock.timers.tick(250)
  }
  assert.equal(socket.destroyed, true)
})

for (const [kind, content] of [
  ['a brief one', 'brief'],
  ['one in pieces', Array.from({ length: 50 }, () => 'x'.repeat(64 * 1024))],
] as const)
  it(`a connection that stays open keeps nothing of an answer that is gone: ${kind}`, async (t) => {
    const exchanges: WeakRef<Exchange>[] = []
    const url = new URL(
      await serve(t, content, { onAnswered: (_, exchange) => exchange && exchanges.push(new WeakRef(exchange)) }),
    )
    const client = connect(Number(url.port), url.hostname)
    t.after(() => client.destroy())
    client.resume()
    const request = 'POST /any HTTP/1.1\r\nHost: test\r\n\r\n'
    // The second comes before the first is answered.
    client.write(request.repeat(2))
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const kept = () => exchanges.filter((each) => each.deref() !== undefined).length
    await eventually('both are answered, and forgotten', () => {
      collect()
      return exchanges.length === 2 && kept() === 0
    })
    assert.ok(client.writable, 'the connection is still open')
  })
