import { bodyText } from './body.ts'
import type { Request } from './call.ts'
import type { Connection, FetchInit } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { isObject } from './json.ts'

export interface PreparedRequest {
  url: string
  /** Made anew for each attempt: a stream can be read once. */
  init(): Omit<FetchInit, 'signal'>
}

export function prepare({ baseUrl, authorization }: Connection, request: Request): PreparedRequest {
  const url = baseUrl + target(request)
  const headers = { authorization, accept: 'application/json' }
  // Followed, a redirect would turn a POST into a GET and drop its body.
  const init = { method: request.method, headers, redirect: 'manual' } as const
  // Bun sends a request without a body again by itself when its connection breaks, unless that is a new one.
  if (!('body' in request)) return { url, init: () => (request.isOnce ? { ...init, keepalive: false } : init) }
  const withBody = { ...init, headers: { ...headers, 'content-type': 'application/json' } }
  const text = bodyText(request.body)
  return { url, init: () => ({ ...withBody, ...(request.isOnce ? sentOnce(text) : { body: text }) }) }
}

/** Deno sends a request again by itself when its connection breaks, unless the body is a stream: it stands for the text. */
function sentOnce(text: string): Pick<FetchInit, 'body'> {
  if (!('Deno' in globalThis)) return { body: text }
  const stream: RequestInit & { duplex: 'half' } = { body: new Blob([text]).stream(), duplex: 'half' }
  return stream as { body: string }
}

/** `/api/schemas` and the id `a/b` make `/api/schemas/a%2Fb`. */
function target({ path, query = {}, ...rest }: Request): string {
  refuseUnlessObject(query, 'query')
  const place = 'id' in rest ? `${path}/${percentEncoded(rest.id)}` : path
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? place : `${place}?${text}`
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
