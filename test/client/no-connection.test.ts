import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { lacksOpenssl, makeCertificate } from '../support/certificate.ts'
import { clientOf, closedPort, failure } from './client.ts'

const unreachable = Object.assign(new Error('connect'), { code: 'ENETUNREACH', syscall: 'connect' })
const broken = Object.assign(new Error('read'), { code: 'EHOSTUNREACH', syscall: 'read' })

describe('the client, when there is no connection to the service', () => {
  it('says so, for what must happen once too: nothing was sent', async () => {
    const gone = await closedPort()
    for (const call of ['getTeam', 'createSchema'] as const) {
      const { code, status } = await failure(clientOf(`http://127.0.0.1:${gone}`, { retries: 1 })[call]({}))
      assert.deepEqual([code, status], ['connection_failed', undefined])
    }
  })

  it('names what the run time calls it, and nothing else', async () => {
    const refused = await failure(clientOf(`http://127.0.0.1:${await closedPort()}`, { retries: 0 }).getTeam())
    assert.equal(refused.message, 'The connection to the service failed (ECONNREFUSED).')
    for (const reason of [{ code: 'no word' }, { code: 20 }, { cause: null }, new Error('ugt_secret')]) {
      const client = clientOf('http://127.0.0.1', { fetch: () => Promise.reject(reason), retries: 0 })
      assert.equal((await failure(client.getTeam())).message, 'The connection to the service failed.')
    }
  })

  it('passes on the name, message and code of what went wrong, and of what was behind it: no answer that came', async () => {
    // As Node's when an answer is malformed.
    const malformed = Object.assign(new Error('Invalid chunk'), { code: 'HPE_INVALID', data: '{"token":"ugt_secret"}' })
    const reason = new TypeError('fetch failed', { cause: malformed })
    malformed.cause = reason
    for (const timeoutMs of [1, 10_000]) {
      const fetch = () => new Promise<never>((_, reject) => setTimeout(reject, timeoutMs === 1 ? 20 : 0, reason))
      const error = await failure(clientOf('http://127.0.0.1', { fetch, timeoutMs, retries: 0 }).getTeam())
      assert.doesNotMatch(inspect(error, { depth: 99, showHidden: true }), /ugt_/)
      const { name, message, stack, cause } = error.cause as Error
      assert.deepEqual([name, message, stack], ['TypeError', 'fetch failed', reason.stack])
      assert.deepEqual([String(cause), (cause as { code: string }).code], ['Error: Invalid chunk', 'HPE_INVALID'])
    }
  })

  it('says so when there is no way to it, by one address or several', async () => {
    for (const cause of [unreachable, new AggregateError([unreachable, unreachable])])
      assert.equal(await codeOfCreation(cause), 'connection_failed')
  })

  it('leaves open what happened when a connection that was there breaks, be it one of several', async () => {
    for (const errors of [[broken], [unreachable, broken], []])
      assert.equal(await codeOfCreation(new AggregateError(errors)), 'answer_lost')
    assert.equal(await codeOfCreation(broken), 'answer_lost')
    // Bun's words for garbage behind a request, too.
    const handshake = Object.assign(new Error('EPROTO: The TLS handshake failed.'), { code: 'EPROTO' })
    assert.equal(await codeOfCreation(handshake), 'answer_lost')
  })

  it('says so when the service does not speak TLS: nothing was sent', async (t) => {
    const answering = (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
    for (const react of [answering, (socket: Socket) => socket.destroy()]) {
      const server = createPlainServer((socket) => socket.once('data', () => react(socket))).listen(0, '127.0.0.1')
      t.after(() => server.close())
      await once(server, 'listening')
      const { port } = server.address() as AddressInfo
      const { code } = await failure(clientOf(`https://127.0.0.1:${port}`, { retries: 0 }).createSchema({}))
      assert.equal(code, 'connection_failed')
    }
  })

  it('says so when its certificate is not to be trusted', { skip: lacksOpenssl() ?? false }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-client-tls-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const { certificate, key } = makeCertificate(folder, 'localhost')
    let requests = 0
    const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_, response) => {
      requests += 1
      response.end()
    }).listen(0, '127.0.0.1')
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code } = await failure(clientOf(`https://127.0.0.1:${port}`, { retries: 0 }).createSchema({}))
    assert.deepEqual([code, requests], ['connection_failed', 0])
  })
})

/** What a creation fails with where fetch fails as Node's does. */
async function codeOfCreation(cause: Error): Promise<string> {
  const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
  return (await failure(clientOf('http://127.0.0.1', { fetch, retries: 0 }).createSchema({}))).code
}
