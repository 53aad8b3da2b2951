import type { ErrorCode } from './types.ts'

/** What can go wrong on the way to the service and back; everything else it says itself. */
export type OwnErrorCode = 'connection_failed' | 'timed_out' | 'answer_lost' | 'unexpected_answer'

interface ErrorDetails {
  field?: string | undefined
  requestId?: string | undefined
  status?: number | undefined
  retryAfter?: number | undefined
  cause?: unknown
}

/** The one error of this package. Its message never holds a token. */
export class UserGroupServiceError extends Error {
  override readonly name = 'UserGroupServiceError'
  readonly code: ErrorCode | OwnErrorCode
  /** The field at fault, where there is one. */
  readonly field: string | undefined
  /** Names the call in the logs of the service; undefined when no answer came. */
  readonly requestId: string | undefined
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined
  /** The seconds to wait before the next try, where the answer says so. */
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode | OwnErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.field = details.field
    this.requestId = details.requestId
    this.status = details.status
    this.retryAfter = details.retryAfter
  }

  /** For logs in JSON, which would leave the message out. */
  toJSON(): object {
    return { ...this, message: this.message }
  }
}
