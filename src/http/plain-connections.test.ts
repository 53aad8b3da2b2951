import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { it, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../test/support/eventually.ts'
import { bodiless, listen, route, wellFormed } from '../../test/support/one-route.ts'
import type { Answer } from './operation.ts'
import { Router } from './router.ts'

/** A server that answers with what it was sent, how many requests Node has read for it, and a client of it. */
async function echo(t: TestContext, answer = (body: unknown): Answer | Promise<Answer> => plain(JSON.stringify(body))) {
  const router = new Router([{ ...route, answer: (_: unknown, __: unknown, body: unknown) => answer(body) }])
  const server = await listen(t, '', { router })
  let byNode = 0
  server.on('request', () => {
    byNode += 1
  })
  return { server, byNode: () => byNode, ...client(t, server) }
}

function plain(content: Answer['content']): Answer {
  return { type: 'text/plain', content }
}

function client(t: TestContext, server: Server) {
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  t.after(() => socket.destroy())
  let text = ''
  socket
    .setNoDelay()
    .setEncoding('latin1')
    .on('data', (more) => {
      text += more
    })
  const statuses = () => (text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []).map(Number)
  const answered = async (count: number) => {
    await eventually(`${count} answers`, () => statuses().length === count)
    return text
  }
  return { socket, text: () => text, statuses, answered }
}

const sent = (body: string, ...headers: string[]) =>
  wellFormed.replace(
    /Content-Length.*/s,
    `${[...headers, `Content-Length: ${body.length}`].join('\r\n')}\r\n\r\n${body}`,
  )
const bodiesIn = (text: string) => [...text.matchAll(/\r\n\r\n([\d"]+)/g)].map(([, body]) => body)

it('requests that come one after the other are read without Node', async (t) => {
  const { socket, answered, byNode } = await echo(t)
  for (const [index, body] of ['1', '22', '333'].entries()) {
    socket.write(sent(body))
    await answered(index + 1)
  }
  assert.deepEqual(bodiesIn(await answered(3)), ['1', '22', '333'])
  assert.equal(byNode(), 0)
})

it('so is one whose body comes right behind its head', async (t) => {
  const { server, byNode } = await echo(t)
  // On a busy machine, even that may come too late.
  await eventually('one is read', async () => {
    const before = byNode()
    const { socket, answered, statuses } = client(t, server)
    socket.write(sent('22').slice(0, -2))
    await pause(1)
    socket.write('22')
    assert.deepEqual(bodiesIn(await answered(1)), ['22'])
    await pause(30)
    assert.equal(statuses().length, 1)
    return byNode() === before
  })
})

for (const [what, ...pieces] of [
  ['a body that takes its time', sent('22').slice(0, -2), '22'],
  ['a body in three pieces', sent('22').slice(0, -2), '2', '2'],
  ['a head in two pieces', sent('22').slice(0, 30), sent('22').slice(30)],
  [
    'a body in chunks',
    sent('22').replace(/Content-Length.*/s, 'Transfer-Encoding: chunked\r\n\r\n2\r\n22\r\n0\r\n\r\n'),
  ],
])
  it(`from ${what} on, a connection is Node's`, async (t) => {
    const { socket, answered, byNode } = await echo(t)
    socket.write(sent('1'))
    await answered(1)
    for (const piece of pieces) {
      socket.write(piece)
      await pause(what?.includes('time') ? 30 : 2)
    }
    await answered(2)
    assert.equal(byNode(), 1)
    socket.write(sent('333'))
    assert.deepEqual(bodiesIn(await answered(3)), ['1', '22', '333'])
    assert.equal(byNode(), 2)
  })

for (const ahead of [0, 1, 4])
  it(`${ahead} that come ahead of an answer are answered behind it, in their order, and the end is seen`, async (t) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { socket, answered, statuses, byNode } = await echo(t, (body) => promise.then(() => plain(`${body}`)))
    socket.write(sent('1'))
    await pause(20)
    const bodies = Array.from({ length: ahead }, (_, index) => `${index + 2}`)
    for (const body of bodies) {
      socket.write(sent(body))
      await pause(5)
    }
    socket.end()
    await pause(20)
    assert.deepEqual([statuses(), byNode()], [[], 0])
    resolve()
    assert.deepEqual(bodiesIn(await answered(1 + ahead)), ['1', ...bodies])
    assert.equal(byNode(), ahead)
    await eventually('it is closed', () => socket.closed)
  })

for (const [kind, content] of [
  ['ASCII', 'abc'],
  ['other text', 'äbc€'],
  ['bytes', Buffer.from([0, 1, 0xff])],
  ['pieces', ['abc', 'ä', 'x'.repeat(2 ** 20)]],
  ['nothing', ''],
] as [string, Answer['content']][])
  it(`an answer of ${kind} is the same to the byte as by Node`, async (t) => {
    const { server, byNode } = await echo(t, () => plain(content))
    const answerTo = async (...pieces: string[]) => {
      const { socket, text } = client(t, server)
      for (const piece of pieces) {
        socket.write(piece)
        await pause(20)
      }
      socket.end()
      await eventually('it is closed', () => socket.closed)
      return text().replace(/Date: .*/, 'Date')
    }
    for (const request of [sent('1'), sent('1', 'Connection: close')]) {
      const read = byNode()
      const answer = await answerTo(request)
      assert.equal(byNode(), read)
      assert.ok((await answerTo(request.slice(0, 1), request.slice(1))) === answer, answer.slice(0, 500))
      assert.equal(byNode(), read + 1)
    }
  })

it('a connection on which nothing comes is told so, and closed', async (t) => {
  const { server, socket, answered } = await echo(t)
  server.headersTimeout = 100
  socket.resume()
  assert.match(await answered(1), /^HTTP\/1\.1 408 /)
  await eventually('it is ended', () => socket.readableEnded)
})

it('what comes too late is not served beside the refusal', async (t) => {
  let served = 0
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { server, socket, answered } = await echo(t, () => {
    served += 1
    return plain('served')
  })
  server.headersTimeout = 0
  await pause(20)
  // It is read before the refusal, which waits for its turn.
  socket.write(sent('1'))
  t.mock.timers.tick(1_000)
  assert.match(await answered(1), /^HTTP\/1\.1 408 /)
  await pause(50)
  assert.equal(served, 0)
})

it('one that has asked before may be silent for longer', async (t) => {
  const { server, socket, answered, statuses } = await echo(t)
  server.headersTimeout = 100
  socket.write(sent('1'))
  await answered(1)
  await pause(1_500)
  socket.write(sent('2'))
  await answered(2)
  assert.deepEqual(statuses(), [200, 200])
})

it('who wants the last answer gets it, and nothing that is sent behind it is done', async (t) => {
  const done: unknown[] = []
  const { server, socket, answered } = await echo(t, async (body) => {
    done.push(body)
    await pause(20)
    return plain('last')
  })
  const opened = once(server, 'connection')
  socket.write(sent('1', 'Connection: close'))
  const [held] = (await opened) as [Socket]
  await pause(5)
  socket.write(sent('2'))
  socket.write(Buffer.alloc(300_000))
  assert.match(await answered(1), /\r\nConnection: close\r\n/)
  await eventually('it is ended', () => socket.readableEnded)
  await eventually('all is read', () => held.bytesRead > 300_000, 1_000)
  assert.deepEqual(done, [1])
})

it('who goes while the answer is prepared, or without a word, harms nobody', async (t) => {
  const { server, socket, answered } = await echo(t, () => pause(20).then(() => plain('late')))
  for (const said of ['', sent('1').slice(0, -1), sent('1')])
    for (const go of ['destroy', 'resetAndDestroy'] as const) {
      const other = client(t, server).socket.on('error', () => {})
      await once(other, 'connect')
      other.write(said)
      await pause(2)
      other[go]()
    }
  await pause(50)
  socket.write(bodiless)
  await answered(1)
})

it('a request that ends early is refused at once', async (t) => {
  const { socket, answered, byNode } = await echo(t)
  socket.end(sent('22').slice(0, -1))
  assert.match(await answered(1), /^HTTP\/1\.1 400 /)
  await eventually('it is closed', () => socket.closed)
  await pause(20)
  assert.equal(byNode(), 0)
})

it('who sends on without taking answers is not read on without end', async (t) => {
  const { server } = await echo(t, () => plain('x'.repeat(2 ** 20)))
  const open: Socket[] = []
  server.on('connection', (socket) => open.push(socket))
  const { socket } = client(t, server)
  socket.pause()
  const held = await eventually('it is open', () =>
    open.find(({ remotePort }) => remotePort !== undefined && remotePort === socket.localPort),
  )
  for (let time = 0; time < 40; time += 1) {
    socket.write(sent('1'))
    await pause(5)
  }
  assert.ok(held.writableLength > 0 && held.writableLength < 5 * 2 ** 20, `${held.writableLength} bytes wait`)
})
