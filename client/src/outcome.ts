import type { FetchAnswer } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { isObject, parseJson } from './json.ts'
import type { ErrorCode } from './types.ts'

/** What became of one attempt. */
export type Outcome =
  | { kind: 'done'; answer: object; status: number; requestId: string | undefined }
  /** The service did nothing; it is safe to ask again, after the wait it asks for. */
  | { kind: 'refused'; error: UserGroupServiceError }
  /** The service says 503: it did nothing, or lost its database while it committed. */
  | { kind: 'unavailable'; error: UserGroupServiceError }
  /** Nobody knows whether the service did it. */
  | { kind: 'lost'; error: UserGroupServiceError }
  | { kind: 'failed'; error: UserGroupServiceError }

interface Failure {
  error: { code: ErrorCode; message: string; field?: string }
  request_id?: string
}

/** Some thirty years, so that it can be written as a number again. */
const longestWait = 1e9

export function outcomeOf({ status, headers }: FetchAnswer, text: string): Outcome {
  const body = parsed(text)
  const requestId = headers.get('x-request-id') ?? undefined
  if (status === 200 && isObject(body) && body.success === 1) return { kind: 'done', answer: body, status, requestId }

  const retryAfter = secondsOf(headers)
  if (isFailure(body)) {
    const { code, message, field } = body.error
    const details = { field, status, requestId: body.request_id ?? requestId, retryAfter }
    const error = new UserGroupServiceError(code, message, details)
    // Of a request that did not arrive in time nothing was done either.
    if (status === 429 || status === 408) return { kind: 'refused', error }
    return { kind: status === 503 ? 'unavailable' : 'failed', error }
  }
  const message = foreignAnswer(status, headers.get('content-type'))
  const error = new UserGroupServiceError('unexpected_answer', message, { status, requestId, retryAfter })
  if (status === 429) return { kind: 'refused', error }
  // From a gateway, not from the service: the request may have reached it all the same.
  return { kind: status > 500 ? 'lost' : 'failed', error }
}

function foreignAnswer(status: number, contentType: string | null): string {
  // Browsers hide the status of a redirect that is not followed.
  if (status === 0 || (status >= 300 && status < 400))
    return 'The answer is a redirect; set baseUrl to where the service itself is.'
  // Only the name of a type, such as text/html: whatever stands behind it is not ours to repeat.
  const [type = 'no type'] = /^[\w.+-]+\/[\w.+-]+/.exec(contentType ?? '') ?? []
  return `The answer (status ${status}, ${type}) is not one of the User Group Service; check baseUrl and what is in between.`
}

function isFailure(body: unknown): body is Failure {
  return isObject(body) && body.success === 0 && isObject(body.error) && typeof body.error.code === 'string'
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Retry-After is a number of seconds, or a date by the clock of whoever answers. Anything else says nothing. */
function secondsOf(headers: FetchAnswer['headers']): number | undefined {
  const header = headers.get('retry-after')?.trim() ?? ''
  const seconds = /^\d+$/.test(header) ? Number(header) : secondsUntil(header, headers.get('date'))
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, seconds), longestWait)
}

function secondsUntil(date: string, now: string | null): number {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(date)) return Number.NaN
  return (Date.parse(date) - (Date.parse(now ?? '') || Date.now())) / 1000
}
