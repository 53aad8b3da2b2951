import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { ServiceError } from '../errors.ts'
import { UniqueViolation } from './database.ts'

const attempts = 3
const uniqueViolation = '23505'

/** The commit was sent and never answered: nobody knows whether it happened, so nobody may send it again. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the connection was lost during the commit', { cause })
  }
}

/** Tries again what a lost connection or a conflict with another transaction has stopped. */
export async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const again = isLostConnection(error) || isSerializationFailure(error)
      if (!again || failures === attempts) throw translate(error)
      await pause(Math.random() * 30 * failures)
    }
  }
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code
  return error instanceof pg.DatabaseError && typeof code === 'string' ? code : undefined
}

function isSerializationFailure(error: unknown): boolean {
  return sqlState(error)?.startsWith('40') ?? false
}

/** The server said goodbye, or takes no writes any more, or the socket broke. Errors of our own carry no trace of it. */
export function isLostConnection(error: unknown): boolean {
  if (error instanceof ServiceError || error instanceof UnknownOutcome) return false
  const state = sqlState(error)
  if (state !== undefined) return /^(08|25006|25P0[34]|57P0[1235])/.test(state)
  const { code, message } = error as NodeJS.ErrnoException
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code ?? '') ||
    /^(Connection terminated|Client has encountered a connection error|Client was closed)/.test(message)
  )
}

/** Lost, or silent: a rollback would wait behind the answer that did not come. */
export function isSpent(error: unknown): boolean {
  if (error instanceof ServiceError) return false
  const isSilent = sqlState(error) === undefined && /time-?out/i.test((error as Error).message)
  return isSilent || error instanceof UnknownOutcome || isLostConnection(error)
}

/**
 * Anything the server's operator can mend, and time-outs, are a fault of the moment, and so is a reference to what was
 * deleted just now, such as a retired master key. What is left is a bug of ours.
 */
export function translate(error: unknown): unknown {
  const state = sqlState(error)
  if (state === uniqueViolation) return new UniqueViolation(error)
  const transient = isSpent(error) || /^(23503|28|3D|40|53|55|57|58|XX)/.test(state ?? '')
  return transient ? new ServiceError('unavailable', { cause: error }) : error
}
