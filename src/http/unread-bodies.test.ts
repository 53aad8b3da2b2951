import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../test/support/eventually.ts'
import { bodiless, listen, route, wellFormed } from '../../test/support/one-route.ts'
import { Router } from './router.ts'

const miraculous = bodiless.replace('Host', 'Expect: miracles\r\nHost')

for (const [kind, ahead, head, statuses] of [
  ['that is ignored', '', bodiless, ['200']],
  ['of a request that expects a miracle', '', miraculous, ['417']],
  ['behind the last request that is served', miraculous, bodiless, ['417']],
  ['that comes before the answer to the request before', bodiless, bodiless, ['200', '400']],
] as const)
  it(`few chunks of a byte are read and none kept of a body ${kind}`, async (t) => {
    const { promise: prepared, resolve: prepare } = Promise.withResolvers<void>()
    const answer = () => prepared.then(() => ({ type: 'text/plain', content: 'served' }))
    const counted: string[] = []
    const server = await listen(t, '', {
      router: new Router([{ ...route, takesBody: false, answer }]),
      onAnswered: (status) => counted.push(String(status)),
    })
    const requests: IncomingMessage[] = []
    for (const event of ['request', 'checkExpectation'])
      server.prependListener(event, (request) => requests.push(request))
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    const crumbs = '1\r\nx\r\n'.repeat(20_000)
    client.write(`${ahead}${head.replace('Host', 'Transfer-Encoding: chunked\r\nHost')}${crumbs}`)
    const { socket } = await eventually('it is read no further', () => requests.find((one) => one.socket.isPaused()))
    client.write(crumbs)
    await pause(50)
    assert.ok(socket.bytesRead < crumbs.length, `${socket.bytesRead} bytes were read`)
    assert.equal(requests.at(-1)?.readableLength, 0)
    prepare()
    let received = ''
    client.setEncoding('latin1').on('data', (text) => {
      received += text
    })
    const answered = () => received.match(/(?<=HTTP\/1\.1 )\d+/g)
    await eventually('all are answered', () => answered()?.length === statuses.length)
    assert.deepEqual([answered(), counted.toSorted()], [statuses, statuses])
  })

it('no more chunks come in of a stranger who is not admitted yet, and the rest does when they are', async (t) => {
  const admitted = Promise.withResolvers<void>()
  const answer = () => ({ type: 'text/plain', content: 'served' })
  const server = await listen(t, '', {
    router: new Router([{ ...route, scope: 'admin', answer }]),
    authenticator: { admit: () => admitted.promise, readmit: () => undefined },
  })
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  const [socket] = await once(server, 'connection')
  const crumbs = '1\r\n \r\n'.repeat(40_000)
  const head = wellFormed.replace(/Content-Length.*/s, 'Transfer-Encoding: chunked\r\n\r\n')
  client.write(`${head}${crumbs}2\r\n{}\r\n0\r\n\r\n`)
  await eventually('some has come', () => socket.bytesRead > 0)
  await pause(50)
  assert.ok(socket.bytesRead < crumbs.length / 2, `${socket.bytesRead} bytes were read`)
  admitted.resolve()
  const [text] = await once(client.setEncoding('latin1'), 'data')
  assert.match(text, /^HTTP\/1\.1 200 /)
})
