import { bodyText } from './body.ts'
import type { Request } from './call.ts'
import type { Connection, FetchInit } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { isObject } from './json.ts'

export interface PreparedRequest {
  url: string
  /** Made anew for each attempt: a stream can be read once. */
  init(): Omit<FetchInit, 'signal'>
  /** The run time may have sent it before, on a connection that broke: that there is none now does not prove it was not. */
  mayBeSentAgain: boolean
}

export function prepare({ baseUrl, authorization }: Connection, request: Request): PreparedRequest {
  const url = baseUrl + target(request)
  const headers = { authorization, accept: 'application/json' }
  // Followed, a redirect would turn a POST into a GET and drop its body.
  const init = { method: request.method, headers, redirect: 'manual' } as const
  const isChange = request.advice !== undefined
  if (!('body' in request)) {
    // Bun sends a request without a body again by itself when its connection breaks, unless that is a new one.
    const once = isChange ? ({ ...init, keepalive: false } as const) : init
    return { url, init: () => once, mayBeSentAgain: isChange && isDeno() }
  }
  const withBody = { ...init, headers: { ...headers, 'content-type': 'application/json' } }
  const text = bodyText(request.body)
  const body = () => (isChange ? sentOnce(text) : { body: text })
  return { url, init: () => ({ ...withBody, ...body() }), mayBeSentAgain: false }
}

/** Deno sends a request again by itself when its connection breaks, unless the body is a stream: it stands for the text. */
function sentOnce(text: string): Pick<FetchInit, 'body'> {
  if (!isDeno()) return { body: text }
  const stream: RequestInit & { duplex: 'half' } = { body: new Blob([text]).stream(), duplex: 'half' }
  return stream as { body: string }
}

function isDeno(): boolean {
  return 'Deno' in globalThis
}

/** `/api/schemas` and the id `a/b` make `/api/schemas/a%2Fb`. */
function target({ path, query = {}, ...rest }: Request): string {
  refuseUnlessObject(query, 'query')
  const place = 'id' in rest ? `${path}/${percentEncoded(rest.id)}` : path
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]) => [name, whole(name, String(value))])).toString()
  return text === '' ? place : `${place}?${text}`
}

/** Half of a character would arrive as another one, and find what is another's. */
function whole(field: string, text: string): string {
  if (!/\p{Cs}/u.test(text)) return text
  throw new UserGroupServiceError('invalid_request', `${field} holds half a character (a lone surrogate).`, { field })
}

/** For JavaScript, where it may be anything. */
export function refuseUnlessObject(value: unknown, what: string): void {
  if (!isObject(value)) throw new UserGroupServiceError('invalid_request', `The ${what} must be an object.`)
}

function percentEncoded(id: unknown): string {
  // Without an id, as for undefined in JavaScript, the call would reach another operation. And so it would for "." and
  // "..": URLs drop these parts of a path, percent-encoded too.
  if (typeof id !== 'string' || ['', '.', '..'].includes(id) || /\p{Cs}/u.test(id))
    throw new UserGroupServiceError('invalid_request', 'The id cannot be part of a URL.', { field: 'id' })
  return encodeURIComponent(id)
}
