import { UserGroupServiceError } from './error.ts'
import type { Outcome } from './outcome.ts'

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** The last part of the path, where it has an id. */
  id?: string | undefined
  query?: object | undefined
  body?: object | undefined
  /**
   * For what changes something: what to do when nobody knows whether it was done. The run time must not send such a
   * request twice by itself: a second one might not do the same, or hide that there was a first.
   */
  advice?: string | undefined
}

/** A request, and what is known about its answer. */
export interface Call<Answer> extends Request {
  /** Whether the answer is about what was asked for; a cache in between could have mixed it up. */
  isAnswer?: ((answer: Answer) => boolean) | undefined
  /** After what it is not repeated: a second one would do harm if the first was done. */
  neverAfter?: readonly Outcome['kind'][] | undefined
  /** Asked at the end when it may have been done, and the answer to it never came: the answer, if it is sure. */
  wasDone?: ((error: UserGroupServiceError) => Promise<Answer | undefined>) | undefined
}

export interface CallOptions {
  /** Ends the call, its waiting and its repetitions; it then fails with the signal's own reason. Null is none. */
  signal?: AbortSignal | null | undefined
}

/** A 503 of the service leaves open too whether it was done, though it hardly ever was. */
const notKnown = ['lost', 'unavailable'] as const

/** Of what may be done a second time without harm. */
export const repeatable = 'It may have been done: repeat it, which is safe.'

/** A second one would make a second thing, or fail because of the first. */
export function creation<Answer>(path: string, body: object, list: string): Call<Answer> {
  return {
    method: 'POST',
    path,
    body,
    neverAfter: notKnown,
    advice: `It may have been created: ask ${list} before you repeat.`,
  }
}

/** A second one might meet another thing that was given the same id since: it is looked for instead. */
export function deletion(path: string, id: string, look: () => Promise<unknown>): Call<{ success: 1 }> {
  return {
    method: 'DELETE',
    path,
    id,
    neverAfter: notKnown,
    advice: 'It may have been deleted, and its id given to another: look at what has it before you repeat.',
    wasDone: () => look().then(() => undefined, doneIfMissing),
  }
}

/** Its number is never given to another: a second one does no harm. */
export function revocation(path: string, id: number): Call<{ success: 1 }> {
  // After a lost answer one that nothing has would count as revoked.
  if (!Number.isSafeInteger(id) || id <= 0)
    throw new UserGroupServiceError('invalid_request', 'The id must be a whole number above 0.', { field: 'id' })
  return {
    method: 'DELETE',
    path,
    id: String(id),
    advice: 'It may have been revoked: ask listApiTokens.',
    wasDone: doneIfMissing,
  }
}

async function doneIfMissing(error: UserGroupServiceError): Promise<{ success: 1 } | undefined> {
  return isMissing(error) ? { success: 1 } : undefined
}

/** Whether the service itself says so: a gateway's own 404 tells nothing of what is there. */
export function isMissing({ code, status }: UserGroupServiceError): boolean {
  return status === 404 && code !== 'unexpected_answer'
}
