import { once } from 'node:events'
import { connect } from 'node:net'
import { Pool } from 'undici'

interface Sent {
  body?: string
  headers?: Record<string, string>
}

export interface Reply {
  status: number
  /** Head and body, as they came. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what a test is about to assert.
  json: any
}

/** Sends secrets to wherever they do not belong, and keeps every answer. */
export class CarelessCaller {
  readonly replies: Reply[] = []
  readonly #url: string
  readonly #pool: Pool
  readonly #apiToken: string

  constructor(url: string, apiToken: string) {
    this.#url = url
    this.#pool = new Pool(url)
    this.#apiToken = apiToken
  }

  /** As one should; `body` is sent as JSON. */
  call(method: string, path: string, body?: unknown): Promise<Reply> {
    const headers = { authorization: `Token ${this.#apiToken}` }
    if (body === undefined) return this.send(method, path, { headers })
    return this.send(method, path, {
      body: JSON.stringify(body),
      headers: { ...headers, 'content-type': 'application/json' },
    })
  }

  /** Text that is no JSON, but says it is. */
  callWithText(method: string, path: string, body: string, contentType = 'application/json'): Promise<Reply> {
    return this.send(method, path, {
      body,
      headers: { authorization: `Token ${this.#apiToken}`, 'content-type': contentType },
    })
  }

  async send(method: string, path: string, { body, headers = {} }: Sent): Promise<Reply> {
    const response = await this.#pool.request({ method: method as 'GET', path, body: body ?? null, headers })
    const answered = await response.body.text()
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    const reply = {
      status: response.statusCode,
      text: JSON.stringify(response.headers) + answered,
      json: isJson ? JSON.parse(answered) : undefined,
    }
    this.replies.push(reply)
    return reply
  }

  /** Bytes that need not be HTTP; the connection is closed once the service has answered, or at once. */
  async sendRaw(bytes: string, end: 'after the answer' | 'at once' = 'after the answer'): Promise<void> {
    const { hostname, port } = new URL(this.#url)
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    socket.on('error', () => {})
    await once(socket, 'connect')
    await new Promise((sent) => socket.write(bytes, sent))
    if (end === 'at once') socket.destroy()
    await once(socket, 'close')
    this.replies.push({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 400), text, json: undefined })
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}
