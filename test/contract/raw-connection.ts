import { connect, type Socket } from 'node:net'
import type { Answer } from '../support/caller.ts'
import { testApiToken } from '../support/service-process.ts'

/** One connection, byte for byte, for what no proper HTTP client would send. */
export class RawConnection {
  readonly #socket: Socket
  readonly #chunks: AsyncIterator<Buffer>
  #received = Buffer.alloc(0)

  constructor(url: string) {
    const { hostname, port } = new URL(url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.setTimeout(20_000, () => this.#socket.destroy(new Error('nothing came for 20 seconds')))
    this.#chunks = this.#socket[Symbol.asyncIterator]()
  }

  send(...parts: (string | Uint8Array)[]): this {
    // A service that has answered and hung up may leave the rest unread: what counts is its answer.
    for (const part of parts) if (this.#socket.writable) this.#socket.write(part, () => {})
    return this
  }

  /** The next whole answer. */
  async answer(): Promise<Answer> {
    for (;;) {
      const answer = this.#take()
      if (answer) return answer
      const { done, value } = await this.#chunks.next()
      if (done) throw new Error(`the connection ended with ${JSON.stringify(this.#received.toString().slice(0, 500))}`)
      this.#received = Buffer.concat([this.#received, value])
    }
  }

  /** What came between the last answer and the end of the connection. */
  async rest(): Promise<string> {
    for (;;) {
      const { done, value } = await this.#chunks.next()
      if (done) return this.#received.toString()
      this.#received = Buffer.concat([this.#received, value])
    }
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(): Answer | undefined {
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const [first = '', ...lines] = this.#received.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const length = Number(headers['content-length'])
    if (Number.isNaN(length)) throw new Error(`an answer without Content-Length: ${first}`)
    const whole = end + 4 + length
    if (this.#received.length < whole) return undefined
    const text = this.#received.toString('utf8', end + 4, whole)
    this.#received = this.#received.subarray(whole)
    const isJson = headers['content-type']?.startsWith('application/json')
    return { status: Number(first.split(' ')[1]), headers, body: isJson ? JSON.parse(text) : text }
  }
}

/** A request as text. A header set to '' is left out. */
export function requestText(method: string, path: string, body = '', more: Record<string, string> = {}): string {
  const headers = {
    Host: 'test',
    Authorization: `Token ${testApiToken}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...more,
  }
  const lines = Object.entries(headers).flatMap(([name, value]) => (value === '' ? [] : [`${name}: ${value}`]))
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}
