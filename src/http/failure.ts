import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type ErrorCode, errorBody, ServiceError } from '../errors.ts'
import { MissingMasterKey } from '../tokens/key-ring.ts'
import { presentedToken } from './authenticate.ts'
import { browserHeaders } from './browser-headers.ts'
import { type Exchange, json, standingHeaders } from './exchange.ts'
import { lingerOver } from './linger.ts'
import { STATUS_CODES } from './node-http.ts'

const ofNode: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

const noMethod = 'The request does not begin with a known HTTP method, such as GET.'

const secondsToRetry = '1'

/** Every failure leaves in the one shape. Only faults of ours are logged, and their causes never sent. */
export function answerFailure(exchange: Exchange, error: unknown, log: Logger): number {
  const failure = discreet(asFailure(error), exchange)
  if (failure.status >= 500) log.error({ request_id: exchange.id, failure: loggable(failure) }, failure.code)
  // Nobody waits for the rest of such a body.
  if (failure.code === 'body_too_large') exchange.isLast = true
  lingerOver(exchange.request)
  exchange.addHeaders(headersOf(failure))
  const body = JSON.stringify(errorBody(failure, exchange.id))
  exchange.writeHead(failure.status, json, body)
  exchange.send(body)
  return failure.status
}

/** A missing master key comes back with the settings; whatever else we did not foresee is a fault of ours. */
export function asFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return new ServiceError(error instanceof MissingMasterKey ? 'unavailable' : 'internal', { cause: error })
}

function headersOf({ code, headers }: ServiceError): Record<string, string> {
  return { ...browserHeaders, ...(code === 'unavailable' && { 'Retry-After': secondsToRetry }), ...headers }
}

/** Enough of a token to know it by; a field's name is cut short somewhere behind that. */
const tellingLength = 16

/** The caller's own token, put in the wrong place, is not repeated: not even one without a form to know it by. */
function discreet(failure: ServiceError, { request }: Exchange): ServiceError {
  const beginning = presentedToken(request.headers.authorization).slice(0, tellingLength)
  const { code, message, field = '', headers } = failure
  const isRepeated = beginning.length === tellingLength && `${message} ${field}`.includes(beginning)
  return isRepeated ? new ServiceError(code, { headers }) : failure
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
  if (known) return new ServiceError(known)
  // Of TLS and of garbage Node says the same.
  const isNoMethod = error.code === 'HPE_INVALID_METHOD'
  return new ServiceError('invalid_request', { message: isNoMethod ? noMethod : 'The request is not valid HTTP.' })
}

/** An answer where no exchange has begun, after which the connection ends. */
export function lastAnswer(failure: ServiceError): { headers: string[]; body: string } {
  const id = randomUUID()
  const body = JSON.stringify(errorBody(failure, id))
  const more = Object.entries(headersOf(failure)).flat()
  const headers = [...standingHeaders(id, json, Buffer.byteLength(body)), ...more]
  return { headers: [...headers, 'Connection', 'close'], body }
}

export function asText(failure: ServiceError): string {
  const { headers, body } = lastAnswer(failure)
  const lines = headers.map((part, index) => (index % 2 === 0 ? `${part}: ` : `${part}\r\n`))
  return `HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status]}\r\n${lines.join('')}\r\n${body}`
}
