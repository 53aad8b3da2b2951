import type { FetchAnswer } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { parseJson } from './json.ts'
import type { ErrorCode } from './types.ts'

/** What became of one attempt. */
export type Outcome =
  | { kind: 'done'; answer: object; status: number; requestId: string | undefined }
  /** The service did nothing; it is safe to ask again, after the wait it asks for. */
  | { kind: 'refused'; error: UserGroupServiceError; retryAfter?: number | undefined }
  /** The service says 503: it did nothing, or lost its database while it committed. */
  | { kind: 'unavailable'; error: UserGroupServiceError; retryAfter?: number | undefined }
  /** Nobody knows whether the service did it. */
  | { kind: 'lost'; error: UserGroupServiceError; retryAfter?: number | undefined }
  | { kind: 'failed'; error: UserGroupServiceError }

interface Failure {
  error: { code: ErrorCode; message: string; field?: string }
  request_id?: string
}

export function outcomeOf({ status, headers }: FetchAnswer, text: string): Outcome {
  const body = parsed(text)
  const requestId = headers.get('x-request-id') ?? undefined
  if (status === 200 && isObject(body) && body.success === 1) return { kind: 'done', answer: body, status, requestId }

  const retryAfter = secondsOf(headers.get('retry-after'))
  if (isFailure(body)) {
    const { code, message, field } = body.error
    const error = new UserGroupServiceError(code, message, { field, status, requestId: body.request_id ?? requestId })
    if (status === 429) return { kind: 'refused', error, retryAfter }
    return status === 503 ? { kind: 'unavailable', error, retryAfter } : { kind: 'failed', error }
  }
  const error = new UserGroupServiceError('unexpected_answer', foreignAnswer(status), { status, requestId })
  if (status === 429) return { kind: 'refused', error, retryAfter }
  // From a gateway, not from the service: the request may have reached it all the same.
  if (status > 500) return { kind: 'lost', error, retryAfter }
  return { kind: 'failed', error }
}

function foreignAnswer(status: number): string {
  // Browsers hide the status of a redirect that is not followed.
  if (status === 0 || (status >= 300 && status < 400))
    return 'The answer is a redirect; set baseUrl to where the service itself is.'
  return `The answer (status ${status}) is not one of the User Group Service; check baseUrl and what is in between.`
}

function isFailure(body: unknown): body is Failure {
  return isObject(body) && body.success === 0 && isObject(body.error) && typeof body.error.code === 'string'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** Retry-After is a number of seconds or a date. */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}
