import { connect, type Socket } from 'node:net'
import { type RawAnswer, type RawRequest, takeAnswer, toBytes } from '../test/support/raw-request.ts'

const smuggled = [
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: \x0bchunked',
  'transfer-encoding: CHUNKED',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Content-Length: 0',
  'Content-Length: +5',
  'Content-Length: 5\r\nContent-Length: 6',
  'Content-Length: 5, 5',
  'Content-Length: 18446744073709551617',
  'Content-Length:\r\n 7',
  'Connection: close',
  'Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAAA',
  'Expect: 100-continue',
  'Host: a\r\nHost: b',
  'X-Fold: a\r\n b',
  'X-Null: a\0b',
  ': empty',
  'X',
]
const bodies = [
  '0\r\n\r\n',
  '5\r\nabcde\r\n0\r\n\r\n',
  '5;a="b\r\nabcde\r\n0\r\n\r\n',
  'ffffffffffffffff\r\n',
  '-1\r\n',
  '5\nabcde\n0\n\n',
  '2\r\n{}\r\n0\r\nX: y\r\n\r\n',
  '\r\n\r\n',
]

/** The bytes of some requests, spoilt as bytes: what was one request to the sender may be two, or none, to the reader. */
export function hostileStream(requests: readonly RawRequest[], random: () => number): Buffer[] {
  const pick = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)] as T
  const place = (bytes: Buffer) => Math.floor(random() * (bytes.length + 1))
  const spoil: ((bytes: Buffer) => Buffer)[] = [
    (bytes) => bytes.subarray(0, place(bytes)),
    (bytes) => bytes.subarray(place(bytes)),
    (bytes) => Buffer.concat([bytes.subarray(0, place(bytes)), bytes.subarray(place(bytes))]),
    (bytes) => Buffer.concat([bytes, bytes.subarray(place(bytes))]),
    (bytes) => {
      const flipped = Buffer.from(bytes)
      const at = place(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      return flipped
    },
    (bytes) =>
      insert(bytes, place(bytes), Buffer.from(Array.from({ length: 1 + random() * 20 }, () => random() * 256))),
    (bytes) => insert(bytes, place(bytes), Buffer.from(pick(['\r\n', '\n', '\r', '\r\n\r\n', '\0', ' ']))),
    (bytes) => insert(bytes, Math.max(0, bytes.indexOf('\r\n') + 2), Buffer.from(`${pick(smuggled)}\r\n`, 'latin1')),
    (bytes) => insert(bytes, Math.max(0, bytes.indexOf('\r\n\r\n') + 4), Buffer.from(pick(bodies))),
    (bytes) => Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'),
    (bytes) => Buffer.from(bytes.toString('latin1').replace(/^\w+/, 'CONNECT'), 'latin1'),
    () => Buffer.from(Array.from({ length: random() * 300 }, () => random() * 256)),
  ]
  let stream: Buffer = Buffer.concat(
    requests.map((request) => (random() < 0.7 ? pick(spoil)(toBytes(request)) : toBytes(request))),
  )
  if (random() < 0.3) stream = pick(spoil)(stream)
  return pieces(stream, random)
}

function insert(bytes: Buffer, at: number, more: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), more, bytes.subarray(at)])
}

/** Most streams arrive whole; some in pieces, cut where it hurts. */
function pieces(stream: Buffer, random: () => number): Buffer[] {
  if (random() < 0.7) return [stream]
  const cuts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => Math.floor(random() * stream.length)).sort(
    (a, b) => a - b,
  )
  return [0, ...cuts].map((from, index) => stream.subarray(from, cuts[index]))
}

const silence = 30
const patience = 20_000

/** Sends a stream on a connection of its own and returns all that is answered before the service closes it. */
export async function sendStream(url: string, parts: readonly Buffer[]): Promise<RawAnswer[]> {
  return answersIn(await exchange(url, parts, (socket) => socket.end()))
}

/** Sends a stream, and resets the connection instead of ending it. */
export async function breakStream(url: string, parts: readonly Buffer[]): Promise<void> {
  await exchange(url, parts, (socket) => socket.resetAndDestroy())
}

/** Returns what is received before the connection is closed. */
async function exchange(url: string, parts: readonly Buffer[], finish: (socket: Socket) => void): Promise<Buffer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const received: Buffer[] = []
  const { promise: closed, resolve: close, reject } = Promise.withResolvers<void>()
  // A service that waits for more is told that no more will come; one that then stays open is at fault.
  const hush = setTimeout(() => finish(socket), silence)
  const impatience = setTimeout(() => reject(new Error('a connection stayed open')), patience)
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    hush.refresh()
  })
  socket.on('error', () => {})
  socket.on('end', () => finish(socket))
  socket.once('close', () => close())
  try {
    for (const part of parts) {
      socket.write(part)
      if (parts.length > 1) await new Promise(setImmediate)
    }
    await closed
  } finally {
    clearTimeout(hush)
    clearTimeout(impatience)
    socket.destroy()
  }
  return Buffer.concat(received)
}

function answersIn(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = []
  // One may say "continue" to who then sends nothing more, and gets no answer.
  const text = received.toString('latin1').replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '')
  for (let rest: Buffer = Buffer.from(text, 'latin1'); rest.length > 0; ) {
    const taken = takeAnswer(rest, false)
    if (taken === undefined) throw new Error(`an answer was broken off: ${rest.toString('latin1', 0, 500)}`)
    answers.push(taken.answer)
    rest = rest.subarray(taken.end)
  }
  return answers
}
