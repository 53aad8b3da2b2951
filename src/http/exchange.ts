import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../api-tokens/api-token.ts'
import { idleFor } from './idle.ts'
import type { PlainRequest } from './plain-request.ts'
import type { PlainResponse } from './plain-response.ts'

export const json = 'application/json; charset=utf-8'

const keepAlive = `timeout=${idleFor / 1000}`

/** A long one in pieces. */
export type Content = string | Buffer | readonly string[]

export type Request = IncomingMessage | PlainRequest
type Response = ServerResponse | PlainResponse

/** One that Node has read, and writes the answer of. */
export type NodesExchange = Exchange<IncomingMessage, ServerResponse>

/** One request and its one answer. */
export class Exchange<From extends Request = Request, To extends Response = Response> {
  readonly request: From
  readonly response: To
  readonly began = performance.now()
  /** Given when it is served. */
  id = ''
  /** The id of the operation, for logs and metrics. */
  operation = 'none'
  caller: Caller | null = null
  /** While it is not decided whether the caller is admitted: nothing is answered or written before. */
  admission: Promise<void> | undefined
  /** No other request is read from the connection. */
  isLast: boolean
  /** Where the client sends the body only when it is asked to, and has not been. */
  askForBody: (() => void) | undefined
  /** The request broke off, which was answered as the last thing on the connection. */
  isBroken = false
  /** How much of the answer has not been given to the connection yet. */
  kept = 0
  #more: string[] | undefined
  #encoding: 'utf8' | 'latin1' = 'utf8'

  constructor(request: From, response: To) {
    this.request = request
    this.response = response
    this.isLast = endsConnection(request)
  }

  /** For the answer, beyond those that every answer has. */
  addHeaders(headers: Record<string, string>): void {
    this.#more = [...(this.#more ?? []), ...Object.entries(headers).flat()]
  }

  writeHead(status: number, type: string, content: Content): void {
    const length = lengthOf(content)
    // Text of as many bytes as characters need not be encoded, only copied.
    this.#encoding = length === content.length ? 'latin1' : 'utf8'
    const headers = standingHeaders(this.id, type, length)
    if (this.#more !== undefined) headers.push(...this.#more)
    // Who was not asked for the body may send it or not: Node closes the connection then.
    if (this.isLast || this.askForBody !== undefined) headers.push('Connection', 'close')
    else if (this.response.shouldKeepAlive) headers.push('Keep-Alive', keepAlive)
    this.response.writeHead(status, headers)
  }

  /** Behind the head. A long answer no faster than it is taken, so that it can be seen whether the client reads. */
  send(content: Content): void {
    if (typeof content === 'string') this.response.end(content, this.#encoding)
    else if (Buffer.isBuffer(content)) this.response.end(content)
    else {
      this.kept = content.reduce((sum, { length }) => sum + length, 0)
      this.#sendPieces([...content])
    }
  }

  #sendPieces(pieces: string[]): void {
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      this.kept -= piece.length
      if (this.response.write(piece)) continue
      // Not of the response: Node forgets to tell it when a CONNECT comes behind.
      this.request.socket.once('drain', () => this.#sendPieces(pieces))
      return
    }
    this.response.end()
  }
}

function lengthOf(content: Content): number {
  if (typeof content === 'string' || Buffer.isBuffer(content)) return Buffer.byteLength(content)
  return content.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0)
}

/** On every answer: a shared cache keys on the URL, and would hand one customer's token to another. */
export function standingHeaders(id: string, type: string, length: number): string[] {
  const named = ['X-Request-Id', id, 'Content-Type', type, 'Content-Length', String(length)]
  named.push('Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff')
  return named
}

/**
 * The client wants that, or nobody can be sure where a next request begins: Node loses what comes behind an upgrade,
 * HTTP/1.0 has no chunks.
 */
function endsConnection({ headers, httpVersion }: Request): boolean {
  if (/^close$/i.test(headers.connection ?? '')) return true
  return headers.upgrade !== undefined || (headers['transfer-encoding'] !== undefined && httpVersion === '1.0')
}

/** Makes request ids. A caller's own is kept when it is one, and no secret in the wrong place. */
export function requestIds(isSecret: (text: string, authorization: string) => boolean) {
  return ({ headers }: Request): string => {
    const given = headers['x-request-id']
    if (typeof given !== 'string' || !/^[\w.:-]{1,128}$/.test(given)) return randomUUID()
    return isSecret(given, headers.authorization ?? '') ? randomUUID() : given
  }
}
