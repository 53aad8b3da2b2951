import type { Connection } from './connection.ts'
import { whenEnded } from './ending.ts'
import { UserGroupServiceError } from './error.ts'
import { isObject } from './json.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { PreparedRequest } from './prepare.ts'

/** Sends a request once. Fails only when the caller's signal ends it; everything else is an outcome. */
export async function attempt(
  { fetch, timeoutMs }: Connection,
  { url, init, mayBeSentAgain }: PreparedRequest,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  let isOverdue = false
  const timer = setTimeout(() => {
    isOverdue = true
    limit.abort()
  }, timeoutMs)
  const forget = whenEnded(signal, () => limit.abort(signal?.reason))
  try {
    const response = await fetch(url, { ...init(), signal: limit.signal })
    return outcomeOf(response, await response.text())
  } catch (reason) {
    signal?.throwIfAborted()
    if (isOverdue) return { kind: 'lost', error: timedOut(timeoutMs, told(reason)) }
    const isUnsent = !mayBeSentAgain && neverArrived(reason)
    return { kind: isUnsent ? 'refused' : 'lost', error: connectionFailed(told(reason)) }
  } finally {
    clearTimeout(timer)
    forget()
  }
}

function timedOut(timeoutMs: number, cause: unknown): UserGroupServiceError {
  return new UserGroupServiceError('timed_out', `The service did not answer within ${timeoutMs} ms.`, { cause })
}

function connectionFailed(cause: unknown): UserGroupServiceError {
  const message = `The connection to the service failed${reasonOf(cause)}.`
  return new UserGroupServiceError('connection_failed', message, { cause })
}

/** No more than this of an error: some of Node's hold the answer as it came, and a token with it. */
function told(error: unknown, depth = 0): unknown {
  if (!isObject(error) || depth > 5) return undefined
  const { name, message, stack, code, cause } = error
  const copy = new Error()
  for (const [key, value] of Object.entries({ name, message, stack, code, cause: told(cause, depth + 1) })) {
    const enumerable = key === 'code'
    if (value !== undefined) Object.defineProperty(copy, key, { value, enumerable, writable: true, configurable: true })
  }
  return copy
}

/** Only a name like ECONNREFUSED, which can hold no secret. */
function reasonOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null }
  const name = cause?.code ?? code
  return typeof name === 'string' && /^\w+$/.test(name) ? ` (${name})` : ''
}

/** Node's and Bun's names for: there was no connection, so nothing was sent. */
const beforeSending = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  // What answers the handshake is not TLS. Behind it Node has no such name: garbage there is a connection that closed.
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ConnectionRefused',
])
/** Their names for a certificate that is not to be trusted: nothing is sent behind that. */
const badCertificate = /^(CERT_|ERR_TLS_CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/
/**
 * Deno says it in words only, and so does Node where the handshake is broken off. Bun's "The TLS handshake failed" is no
 * proof: it says so of what comes behind a request too.
 */
const beforeSendingInWords = /client error \(Connect\)|before secure TLS connection was established/

function neverArrived(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown }
  // Node's, when a name has several addresses.
  const { errors } = (cause ?? {}) as { errors?: unknown }
  const isEach = Array.isArray(errors) && errors.length > 0 && errors.every(isBeforeSending)
  return isEach || [error, cause].some(isBeforeSending)
}

function isBeforeSending(error: unknown): boolean {
  const { code, syscall, message } = (error ?? {}) as { code?: unknown; syscall?: unknown; message?: unknown }
  const name = String(code)
  return (
    syscall === 'connect' ||
    beforeSending.has(name) ||
    badCertificate.test(name) ||
    beforeSendingInWords.test(String(message))
  )
}
