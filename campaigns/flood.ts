import { once } from 'node:events'
import { connect } from 'node:net'

const tenGigabytes = 10 * 1024 ** 3
/** Far more than a limit and the buffers of the system on both sides: who takes this much takes everything. */
const enough = 64 * 1024 ** 2
const part = Buffer.alloc(64 * 1024, 'x')

export interface Flooded {
  /** Bytes that left this process before it was cut off. */
  sent: number
  wasCutOff: boolean
  /** What it was told meanwhile. */
  answer: string
}

/** Sends a body of 10 GB, as fast as it is taken, until the connection is cut. */
export async function flood(url: string, framing: 'announced' | 'chunked', apiToken: string): Promise<Flooded> {
  const { hostname, port } = new URL(url)
  // Half open, so that it is the service that closes.
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  let answer = ''
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  const closed = new Promise<true>((resolve) => socket.once('close', () => resolve(true)))
  await once(socket, 'connect')
  const length = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${tenGigabytes}`
  socket.write(
    `POST /api/user HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${apiToken}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
  )
  const sent = () => socket.bytesWritten - socket.writableLength
  while (socket.writable && sent() < enough) {
    const more = framing === 'chunked' ? [`${part.length.toString(16)}\r\n`, part, '\r\n'] : [part]
    for (const bytes of more) socket.write(bytes)
    // An answer is only seen by who looks for it between two writes.
    await new Promise(setImmediate)
    if (socket.writableNeedDrain) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
  }
  const wasCutOff = sent() < enough && (await closed)
  socket.destroy()
  return { sent: sent(), wasCutOff, answer }
}
