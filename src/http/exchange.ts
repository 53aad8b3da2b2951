import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../api-tokens/api-token.ts'

export const json = 'application/json; charset=utf-8'

const piece = 64 * 1024

/** One request and its one answer. */
export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  readonly began = performance.now()
  /** The id of the operation, for logs and metrics. */
  operation = 'none'
  caller: Caller | null = null
  /** While it is not decided whether the caller is admitted: nothing is answered or written before. */
  admission: Promise<void> | undefined
  /** No other request is read from the connection. */
  isLast: boolean
  /** The length of an answer that is kept until the last of it is sent. */
  kept = 0
  #more: string[] | undefined

  constructor(request: IncomingMessage, response: ServerResponse, id: string) {
    this.request = request
    this.response = response
    this.id = id
    this.isLast = endsConnection(request)
  }

  /** For the answer, beyond those that every answer has. */
  addHeaders(headers: Record<string, string>): void {
    this.#more = [...(this.#more ?? []), ...Object.entries(headers).flat()]
  }

  answer(status: number, type: string, text: string): void {
    const headers = standingHeaders(this.id, type, text)
    if (this.#more !== undefined) headers.push(...this.#more)
    if (this.isLast) headers.push('Connection', 'close')
    this.response.writeHead(status, headers)
    if (text.length <= piece) this.response.end(text)
    else this.#sendInPieces(text, 0)
  }

  /** As fast as they are taken, and no faster: so it can be seen whether a client reads. */
  #sendInPieces(text: string, from: number): void {
    const { response } = this
    const to = endOfPiece(text, from)
    const isLast = to === text.length
    this.kept = isLast ? 0 : text.length
    const goOn = response.write(text.slice(from, to))
    if (isLast) response.end()
    else if (goOn) this.#sendInPieces(text, to)
    // Node forgets to tell the response when a CONNECT comes behind it.
    else this.request.socket.once('drain', () => this.#sendInPieces(text, to))
  }
}

/** Not between the two halves of a character. */
function endOfPiece(text: string, from: number): number {
  const end = Math.min(from + piece, text.length)
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end - 1 : end
}

/** On every answer: a shared cache keys on the URL, and would hand one customer's token to another. */
export function standingHeaders(id: string, type: string, text: string): string[] {
  const length = String(Buffer.byteLength(text))
  const named = ['X-Request-Id', id, 'Content-Type', type, 'Content-Length', length]
  named.push('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff')
  return named
}

/** Nobody can be sure where a next request begins: Node loses what comes behind an upgrade, HTTP/1.0 has no chunks. */
function endsConnection({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.upgrade !== undefined || (headers['transfer-encoding'] !== undefined && httpVersion === '1.0')
}

/** Makes request ids. A caller's own is kept when it is one, and no secret in the wrong place. */
export function requestIds(isSecret: (text: string, authorization: string) => boolean) {
  return ({ headers }: IncomingMessage): string => {
    const given = headers['x-request-id']
    if (typeof given !== 'string' || !/^[\w.:-]{1,128}$/.test(given)) return randomUUID()
    return isSecret(given, headers.authorization ?? '') ? randomUUID() : given
  }
}
