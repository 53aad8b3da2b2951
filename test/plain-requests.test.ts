import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { PlainReader, PlainRequest } from '../src/http/plain-request.ts'
import { operations } from '../src/operations.ts'
import { engines } from './support/engines.ts'
import { mutations } from './support/mutations.ts'
import { type RawAnswer, type RawRequest, send } from './support/raw-request.ts'
import { running } from './support/running.ts'
import { testApiToken } from './support/service-process.ts'

const runs = Number(process.env.FUZZ_RUNS ?? 100)

const whole =
  'POST /api/user?a=b HTTP/1.1\r\nHost: test\r\nAuthorization: Token abc\r\nContent-Type: application/json\r\n' +
  'Accept: */*\r\nContent-Length: 7\r\n\r\n{"a":1}'

/** What has led parsers apart. */
const lines = [
  ...['Content-Length: 7', 'content-length:07', 'Content-Length: 1', 'Content-Length : 7', 'Content_Length: 1'],
  ...['Transfer-Encoding: chunked', 'Transfer-Encoding:', 'Transfer_Encoding: chunked', 'TE: trailers', 'Trailer: X'],
  ...[
    'Connection: close',
    'Connection: Keep-Alive',
    'Connection: upgrade\r\nUpgrade: h2c',
    'Keep-Alive: 1',
    'Upgrade: h2c',
  ],
  ...[
    'Proxy-Connection: close',
    'Host: other',
    'Host:',
    'X-Other: a',
    'X-Other: a\r\n b',
    'Expect: 100-continue',
    'x:',
    ':',
  ],
  ...['Cookie: a=b', '__proto__: x', 'constructor: x', 'X-Request-Id: \t mine \t', 'Content-Encoding: gzip', ''],
]
const words = [
  ...[
    '\r',
    '\n',
    '\r\n',
    '\r\n\r\n',
    ' ',
    '\t',
    ':',
    ';',
    ',',
    '0',
    '7',
    '+',
    '-',
    '"',
    '#',
    '?',
    '/',
    '%',
    '\0',
    '\x0b',
    '\x7f',
  ],
  ...['\x80', '\xff', 'x', '{}', 'chunked', 'close', 'HTTP/1.1', 'HTTP/1.0', 'GET', 'HEAD', 'CONNECT', 'http://b'],
]

const place = fc.double({ min: 0, max: 1, noNaN: true })

/** Puts a line between two others. */
const withLine = fc.record({ at: place, line: fc.constantFrom(...lines) }).map(({ at, line }) => (text: string) => {
  const before = text.slice(0, text.lastIndexOf('\r\n', Math.floor(at * text.indexOf('\r\n\r\n'))) + 2)
  return before.endsWith('\n') ? `${before}${line}\r\n${text.slice(before.length)}` : text
})

/** Takes some characters away, and puts something else there. */
const withOther = fc
  .record({
    at: place,
    less: fc.constantFrom(0, 0, 1, 1, 2, 7),
    more: fc.oneof(fc.constantFrom(...words), fc.string({ unit: 'binary-ascii', maxLength: 3 })),
  })
  .map(({ at, less, more }) => (text: string) => {
    const from = Math.floor(at * (text.length + 1))
    return text.slice(0, from) + more + text.slice(from + less)
  })

/** All that Node's parser makes of some bytes, and of a request behind them. */
async function asNodeReads(bytes: Buffer) {
  const read: object[] = []
  const server = createServer({ requireHostHeader: false, joinDuplicateHeaders: true }, (request, response) => {
    const at = read.push(seen(request, '')) - 1
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => {
      read[at] = seen(request, Buffer.concat(body).toString('latin1'))
      response.end()
    })
    request.on('error', (error) => read.push(error))
  })
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  server.on('clientError', (error) => read.push(error))
  server.emit('connection', connection)
  connection.push(bytes)
  connection.push(whole)
  // Nothing of it takes longer: there is no system between them.
  for (let turn = 0; turn < 3; turn += 1) await nextTurn()
  connection.destroy()
  return read
}

const looked = [
  'host',
  'authorization',
  'connection',
  'content-type',
  'content-length',
  'content-encoding',
  'x-request-id',
]

function seen({ method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>, body: string) {
  return { method, url, headers: looked.map((name) => headers[name]), body }
}

/** By one that remembers what it read before. */
const reader = new PlainReader()

function asWeRead(text: string) {
  const request = reader.read(Buffer.from(text, 'latin1'), new Socket())
  return request instanceof PlainRequest ? seen(request as never, request.body.toString('latin1')) : undefined
}

it('what the service reads without Node, Node reads to the same end, however a request is spoilt', async (t) => {
  let read = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(withLine, withOther), { minLength: 1, maxLength: 3 }), async (edits) => {
      const text = edits.reduce((spoilt, change) => change(spoilt), whole)
      const request = asWeRead(text)
      if (request === undefined) return
      read += 1
      const [first, behind] = await asNodeReads(Buffer.from(text, 'latin1'))
      assert.deepEqual(first, request, text)
      // Behind the last request on a connection, Node takes no other.
      if (!/close/i.test(request.headers.join())) assert.deepEqual(behind, asWeRead(whole), text)
    }),
    { numRuns: 20 * runs },
  )
  t.diagnostic(`${read} of ${20 * runs} were read without Node`)
  assert.ok(read > runs)
})

for (const engine of engines.slice(0, 1))
  describe('a request, whether right or not', async () => {
    const { service } = await running(undefined, engine, { UGS_LOG_LEVEL: 'error', UGS_AUTH_FAILURE_LIMIT: '1000000' })
    const reading = operations.filter(({ id }) => ['team.get', 'token.verify', 'user_group.list'].includes(id))

    /** All of an answer but what differs each time. */
    const lasting = ({ status, headers: { date, 'x-request-id': id = '', ...headers }, text }: RawAnswer) => {
      return { status, headers, text: text.replaceAll(id, 'its id') }
    }

    it('is answered in the same way when it comes whole as when it comes in pieces', async (t) => {
      const statuses = new Set<number>()
      assert.equal(reading.length, 3)
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...reading), mutations, async ({ method, path, example }, changes) => {
          const body = Buffer.from(example.body === undefined ? '' : JSON.stringify(example.body))
          const headers: RawRequest['headers'] = [
            ['Host', 'test'],
            ['Authorization', `Token ${testApiToken}`],
          ]
          if (body.length > 0) headers.push(['Content-Type', 'application/json'], ['Content-Length', `${body.length}`])
          const right: RawRequest = { method, path, headers, body }
          const request = changes.reduce((spoilt, change) => change(spoilt), right)
          const answer = lasting(await send(service.url, request))
          statuses.add(answer.status)
          assert.deepEqual(lasting(await send(service.url, request, 'in pieces')), answer)
        }),
        { numRuns: 2 * runs },
      )
      t.diagnostic(`answers: ${[...statuses].sort()}`)
    })
  })
