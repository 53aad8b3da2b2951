import type { UserGroupServiceError } from './error.ts'

export interface Request {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  /** The last part of the path, where it has an id. */
  id?: string | undefined
  query?: object | undefined
  body?: object | undefined
  /**
   * Whether a second one would do more than the first: then it is not repeated when its answer is lost. A 503 of the
   * service leaves open too whether it was done, though it hardly ever was.
   */
  onlyOnce?: { advice: string; evenAfter503: boolean } | undefined
}

/** A request, and what is known about its answer. */
export interface Call<Answer> extends Request {
  /** Whether the answer is about what was asked for; a cache in between could have mixed it up. */
  isAnswer?: ((answer: Answer) => boolean) | undefined
  /** What is said where it is not, when it need not be a cache. */
  mismatch?: { message: string; field: string } | undefined
  /** Asked when a repetition fails: the first one may have done it already. */
  wasDone?: ((error: UserGroupServiceError) => Promise<Answer | undefined> | Answer | undefined) | undefined
}

export interface CallOptions {
  /** Ends the call, its waiting and its repetitions; it then fails with the signal's own reason. */
  signal?: AbortSignal | undefined
}

/** A second one would make a second thing, or fail because of the first. */
export function creation<Answer>(path: string, body: object, list: string): Call<Answer> {
  return {
    method: 'POST',
    path,
    body,
    onlyOnce: { advice: `It may have been created: ask ${list} before you repeat.`, evenAfter503: true },
  }
}

export function deletion(path: string, id: string): Call<{ success: 1 }> {
  return { method: 'DELETE', path, id, wasDone: (error) => (isMissing(error) ? { success: 1 } : undefined) }
}

/** Whether the service itself says so: a gateway's own 404 tells nothing of what is there. */
export function isMissing({ code, status }: UserGroupServiceError): boolean {
  return status === 404 && code !== 'unexpected_answer'
}
