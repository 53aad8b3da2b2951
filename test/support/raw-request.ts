import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A request before it is bytes, so that each part of it can be spoilt. */
export interface RawRequest {
  method: string
  path: string
  headers: (readonly [name: string, value: string])[]
  body: Buffer
}

export interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

export function toBytes({ method, path, headers, body }: RawRequest): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

const patience = { whole: 10_000, cutShort: 50 }

/** Longer than until what has come is read. */
const betweenPieces = 5

/**
 * Sends a request on a connection of its own, perhaps a byte of it first, and returns the first answer. A service that still waits for more of a
 * request that was cut short is told after a moment that no more will come.
 */
export async function send(url: string, request: RawRequest, how: 'whole' | 'in pieces' = 'whole'): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const received: Buffer[] = []
  const answered = Promise.withResolvers<RawAnswer>()
  const look = (isEnd: boolean) => {
    const taken = takeAnswer(Buffer.concat(received), request.method === 'HEAD')
    if (taken) answered.resolve(taken.answer)
    else if (isEnd) answered.reject(new Error(`no answer, only ${JSON.stringify(Buffer.concat(received).toString())}`))
  }
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    look(false)
  })
  socket.on('end', () => look(true))
  // A reset behind the answer is the service hanging up on what nobody reads.
  socket.on('error', () => look(true))
  const bytes = toBytes(request)
  if (how === 'whole') socket.write(bytes)
  else {
    socket.setNoDelay().write(bytes.subarray(0, 1))
    await pause(betweenPieces)
    socket.write(bytes.subarray(1))
  }
  const stop = new AbortController()
  void pause(patience[isCutShort(request) ? 'cutShort' : 'whole'], undefined, { signal: stop.signal }).then(
    () => socket.end(),
    () => {},
  )
  try {
    return await answered.promise
  } finally {
    stop.abort()
    socket.destroy()
  }
}

function isCutShort({ headers, body }: RawRequest): boolean {
  return headers.some(
    ([name, value]) => name === 'Transfer-Encoding' || (name === 'Content-Length' && Number(value) > body.length),
  )
}

/** The first whole answer of what was received, and where it ends. Without a body, as to HEAD, whatever its head says. */
export function takeAnswer(received: Buffer, isBodiless: boolean): { answer: RawAnswer; end: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  const begin = headEnd + 4
  if (status < 200) {
    const behind = takeAnswer(received.subarray(begin), isBodiless)
    return behind && { answer: behind.answer, end: begin + behind.end }
  }
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const end = begin + (isBodiless ? 0 : Number(headers['content-length']))
  if (received.length < end) return undefined
  if (Number.isNaN(status + end)) throw new Error(`this is no answer: ${received.toString('latin1', 0, begin)}`)
  return { answer: { status, headers, text: received.toString('utf8', begin, end) }, end }
}
