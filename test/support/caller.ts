import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { assertAsDocumented, assertHeadersAsDocumented } from './document.ts'
import { testApiToken } from './service-process.ts'

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what a test is about to assert.
  body: any
}

export interface Call {
  /** Sent as JSON; `text` is sent as it is, a stream in chunks. */
  json?: unknown
  text?: string | Uint8Array | Readable
  headers?: Record<string, string>
}

/**
 * A back end that calls the service, over real sockets, with a client that can send a body with a GET. Every answer is
 * held against openapi.json on the way.
 */
export class Caller {
  readonly #pool: Pool
  readonly #apiToken: string

  constructor(url: string, apiToken = testApiToken, connections = 50) {
    this.#pool = new Pool(url, { connections })
    this.#apiToken = apiToken
  }

  async call(method: string, path: string, { json, text, headers }: Call = {}): Promise<Answer> {
    const body = text ?? (json === undefined ? null : JSON.stringify(json))
    const response = await this.#pool.request({
      method: method as 'GET',
      path,
      body,
      headers: {
        authorization: `Token ${this.#apiToken}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    const answered = await response.body.text()
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    const parsed = isJson && answered !== '' ? JSON.parse(answered) : answered
    if (isJson && answered !== '') {
      assertAsDocumented(method, path, response.statusCode, parsed)
      assertHeadersAsDocumented(method, path, response.statusCode, response.headers)
    }
    return { status: response.statusCode, headers: response.headers, body: parsed }
  }

  getOrCreate(userGroupId: unknown, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.call('GET', '/api/user', { json: { user_group_id: userGroupId, ...more } })
  }

  rotate(currentToken: unknown, more: Record<string, unknown> = {}): Promise<Answer> {
    return this.call('POST', '/api/user', { json: { current_token: currentToken, ...more } })
  }

  verify(token: unknown): Promise<Answer> {
    return this.call('POST', '/api/verify', { json: { token } })
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }
}
