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

function toBytes({ method, path, headers, body }: RawRequest): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

const patience = { whole: 10_000, cutShort: 50 }

/**
 * Sends a request on a connection of its own and returns the first answer. A service that still waits for more of a
 * request that was cut short is told after a moment that no more will come.
 */
export async function send(url: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const received: Buffer[] = []
  const answered = Promise.withResolvers<RawAnswer>()
  const look = (isEnd: boolean) => {
    const answer = parse(Buffer.concat(received), isEnd || request.method === 'HEAD')
    if (answer) answered.resolve(answer)
    else if (isEnd) answered.reject(new Error(`no answer, only ${JSON.stringify(Buffer.concat(received).toString())}`))
  }
  socket.on('data', (chunk: Buffer) => {
    received.push(chunk)
    look(false)
  })
  socket.on('end', () => look(true))
  // A reset behind the answer is the service hanging up on what nobody reads.
  socket.on('error', () => look(true))
  socket.write(toBytes(request))
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

function parse(received: Buffer, isAll: boolean): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = received.toString('latin1', 0, end).split('\r\n')
  const status = Number(first.split(' ')[1])
  if (status < 200) return parse(received.subarray(end + 4), isAll)
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = received.subarray(end + 4)
  const length = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  if (body.length < length && !isAll) return undefined
  return { status, headers, text: body.subarray(0, length).toString() }
}
