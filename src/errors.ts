/** Every way a call can fail: its code, status and what the caller should do, in one place. */
export const catalogue = {
  invalid_json: { status: 400, message: 'The body is not valid JSON in UTF-8; send one JSON object.' },
  missing_body: { status: 400, message: 'The request has no body; send one JSON object.' },
  invalid_request: { status: 400, message: 'The request is not valid.' },
  unknown_data_source: {
    status: 400,
    message: 'The mapping names a data source that this team does not have.',
  },
  unauthenticated: {
    status: 401,
    message: 'Send the header "Authorization: Token <API_TOKEN>".',
  },
  invalid_api_token: {
    status: 401,
    message: 'The API token is unknown, expired or revoked; ask the admin of your team for a new one.',
  },
  insufficient_scope: { status: 403, message: 'The API token lacks the scope this operation needs.' },
  not_found: {
    status: 404,
    message: 'There is nothing at this path; GET /api/docs shows the operations there are.',
  },
  user_group_not_found: { status: 404, message: 'This team has no user group with that id.' },
  token_not_found: { status: 404, message: 'No user group of this team has that token.' },
  method_not_allowed: {
    status: 405,
    message: 'This path does not take that method; the Allow header lists those it takes.',
  },
  request_timeout: { status: 408, message: 'The request did not arrive in time; send it again.' },
  token_already_rotated: {
    status: 409,
    message: 'That token was rotated already; look the user group up for the current one.',
  },
  conflict: { status: 409, message: 'The request conflicts with what is stored.' },
  body_too_large: { status: 413, message: 'The body is larger than 256 KiB.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as JSON in UTF-8, uncompressed, with the header "Content-Type: application/json".',
  },
  expectation_failed: { status: 417, message: 'The service cannot do what the Expect header asks; leave it out.' },
  rate_limited: { status: 429, message: 'Too many requests; wait as long as the Retry-After header says.' },
  headers_too_large: { status: 431, message: 'The request headers are larger than 16 KiB, or more than 1,000.' },
  internal: { status: 500, message: 'The service failed; report the request_id to its operator.' },
  unavailable: {
    status: 503,
    message: 'The service cannot use its database now; try again as the Retry-After header says.',
  },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof catalogue

interface ErrorDetails {
  /** What to tell the caller, where the catalogue's sentence can be more exact. */
  message?: string
  /** The field at fault, as a path: `mapping.sales`. */
  field?: string
  headers?: Record<string, string>
  /** Logged, never sent. */
  cause?: unknown
}

export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly field: string | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, details: ErrorDetails = {}) {
    super(
      details.message ?? catalogue[code].message,
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.name = 'ServiceError'
    this.code = code
    this.status = catalogue[code].status
    this.field = details.field
    this.headers = details.headers ?? {}
  }
}

export function invalid(field: string, expectation: string): ServiceError {
  return new ServiceError('invalid_request', { field, message: `${field} ${expectation}` })
}

/** The one shape in which every failed call is answered. */
export function errorBody(error: ServiceError, requestId: string) {
  const { code, message, field } = error
  return {
    success: 0,
    error: field === undefined ? { code, message } : { code, message, field },
    request_id: requestId,
  }
}
