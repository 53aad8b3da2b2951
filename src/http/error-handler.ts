import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, errorBody, ServiceError } from '../errors.ts'
import { lingerBriefly } from './linger.ts'

const ofFastify: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_request',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
}

const ofNode: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  // The client went away, or broke its own body off.
  ECONNRESET: 'invalid_request',
}

/** On every answer: a shared cache keys on the URL, and would hand one customer's token to another. */
export function standingHeaders(requestId: string): Record<string, string> {
  return { 'Cache-Control': 'no-store', 'X-Request-Id': requestId }
}

const secondsToRetry = '1'

/** Every failure leaves in the one shape. Only faults of ours are logged, and their causes never sent. */
export function answerError(error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): void {
  const failure = toServiceError(error)
  if (failure.status >= 500) request.log.error({ request_id: request.id, failure: loggable(failure) }, failure.code)
  if (failure.code === 'unavailable') reply.header('Retry-After', secondsToRetry)
  // Fastify closes the connection after any error in a body; that is only needed while more of the body may come, or
  // when the client asked for it.
  const asked = /\bclose\b/i.test(request.headers.connection ?? '')
  if (request.raw.complete && !asked && reply.hasHeader('connection')) reply.removeHeader('connection')
  lingerBriefly(request.raw)
  reply
    .code(failure.status)
    .headers(standingHeaders(request.id))
    .headers(failure.headers)
    .header('Content-Type', 'application/json; charset=utf-8')
    .send(JSON.stringify(errorBody(failure, request.id)))
}

export function answerNotFound(): never {
  throw new ServiceError('not_found')
}

function toServiceError(error: FastifyError | Error): ServiceError {
  if (error instanceof ServiceError) return error
  const { code = '' } = error as FastifyError
  const known = ofFastify[code] ?? ofNode[code]
  if (known === undefined) return new ServiceError('internal', { cause: error })
  return new ServiceError(
    known,
    code === 'FST_ERR_BAD_URL' ? { message: 'The path is not valid percent-encoding.' } : {},
  )
}

/** A chosen few fields: an error of a driver may carry values that do not belong in a log. */
function loggable(error: unknown): object {
  const { name, message, stack, cause } = error as Error
  const { code } = error as { code?: unknown }
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: loggable(cause) }) }
}

/** What Node could not parse as a request is answered in the same shape, by hand. */
export function unparsable(error: NodeJS.ErrnoException): ServiceError {
  const known = ofNode[error.code ?? '']
  return known
    ? new ServiceError(known)
    : new ServiceError('invalid_request', { message: 'The request is not valid HTTP.' })
}

/** An answer where no route was reached, after which the connection ends. */
export function lastAnswer(failure: ServiceError): { headers: Record<string, string>; body: string } {
  const requestId = randomUUID()
  const body = JSON.stringify(errorBody(failure, requestId))
  const headers = {
    ...standingHeaders(requestId),
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  return { headers, body }
}

export function asText(failure: ServiceError): string {
  const { headers, body } = lastAnswer(failure)
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${head.join('')}\r\n${body}`
}
