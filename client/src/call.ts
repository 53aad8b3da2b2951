import type { Connection } from './connection.ts'
import { UserGroupServiceError } from './error.ts'

interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** The last part of the path, where it has an id. */
  id?: string | undefined
  query?: object | undefined
  body?: object | undefined
}

/** One operation, and what is known about repeating it. */
export interface Call<Answer> extends Request {
  /** Whether a second one would do more than the first: then it is not repeated when its answer is lost. */
  onlyOnce?: { advice: string } | undefined
  /** Whether the answer is about what was asked for; a cache in between could have mixed it up. */
  isAnswer?: ((answer: Answer) => boolean) | undefined
  /** Asked when a repetition fails after an answer was lost: the first one may have done it already. */
  wasDone?: ((error: UserGroupServiceError) => Promise<Answer> | Answer | undefined) | undefined
}

export interface CallOptions {
  /** Ends the call, its waiting and its repetitions; it then fails with the signal's own reason. */
  signal?: AbortSignal | undefined
}

export interface PreparedRequest {
  url: string
  init: RequestInit
}

export function prepared({ baseUrl, authorization }: Connection, request: Request): PreparedRequest {
  const { method, body } = request
  const headers = { authorization, accept: 'application/json' }
  // Followed, a redirect would turn a POST into a GET and drop its body.
  const init = { method, headers, redirect: 'manual' } as const
  const url = baseUrl + target(request)
  if (body === undefined) return { url, init }
  return {
    url,
    init: { ...init, headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) },
  }
}

/** `/api/schemas` and the id `a/b` make `/api/schemas/a%2Fb`. */
function target({ path, id, query = {} }: Request): string {
  const place = id === undefined ? path : `${path}/${percentEncoded(id)}`
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? place : `${place}?${text}`
}

function percentEncoded(id: string): string {
  // URLs drop the parts "." and ".." of a path, percent-encoded too: the call would reach another operation.
  if (['', '.', '..'].includes(id) || /\p{Cs}/u.test(id))
    throw new UserGroupServiceError('invalid_request', 'The id cannot be part of a URL.', { field: 'id' })
  return encodeURIComponent(id)
}

/** A second one would make a second thing, or fail because of the first. */
export function creation<Answer>(path: string, body: object, list: string): Call<Answer> {
  return {
    method: 'POST',
    path,
    body,
    onlyOnce: { advice: `It may have been created: ask ${list} before you repeat.` },
  }
}

export function deletion(path: string, id: string): Call<{ success: 1 }> {
  return { method: 'DELETE', path, id, wasDone: ({ status }) => (status === 404 ? { success: 1 } : undefined) }
}
