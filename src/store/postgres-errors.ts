import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { ServiceError } from '../errors.ts'
import { MissingTable, UniqueViolation } from './database.ts'

const attempts = 3
/** What has failed more slowly would fail as slowly again, and a caller should not wait for that. */
const tryAgainWithinMilliseconds = 3_000
const uniqueViolation = '23505'
const undefinedTable = '42P01'

/** The commit was sent and never answered: nobody knows whether it happened, so nobody may send it again. */
export class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the connection was lost during the commit', { cause })
  }
}

/** Tries again what a lost connection or a conflict with another transaction has stopped soon. */
export async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  const began = performance.now()
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const again = isLostConnection(error) || isSerializationFailure(error) || isForgotten(error)
      if (!again || failures === attempts || isTooLate(began)) throw translate(error)
      await pause(Math.random() * 30 * failures)
    }
  }
}

export function isTooLate(began: number): boolean {
  return performance.now() - began > tryAgainWithinMilliseconds
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

/** Lost, or silent, when a rollback would wait behind the answer that did not come; or it has forgotten what it knew. */
export function isSpent(error: unknown): boolean {
  if (error instanceof ServiceError) return false
  const isSilent = sqlState(error) === undefined && /time-?out/i.test((error as Error).message)
  return isSilent || isForgotten(error) || error instanceof UnknownOutcome || isLostConnection(error)
}

/** A statement that was prepared here is gone, or one is there that was not, or it no longer fits its tables. */
export function isForgotten(error: unknown): boolean {
  return /^(26000|42P05)$/.test(sqlState(error) ?? '') || isOutdated(error)
}

/** A table has other columns than when the statement was prepared. The words for it depend on the server's language. */
export function isOutdated(error: unknown): boolean {
  return sqlState(error) === '0A000' && (error as pg.DatabaseError).routine === 'RevalidateCachedQuery'
}

/** For the caller. What is none of these is a bug of ours. */
export function translate(error: unknown): unknown {
  if (sqlState(error) === uniqueViolation) return new UniqueViolation(error)
  if (sqlState(error) === undefinedTable) return new MissingTable(error)
  return isTransient(error) ? new ServiceError('unavailable', { cause: error }) : error
}

/**
 * Anything the server's operator can mend, as a right or a table that was taken away, and time-outs, are a fault of the
 * moment, and so is a reference to what was deleted just now, such as a retired master key.
 */
export function isTransient(error: unknown): boolean {
  return isSpent(error) || /^(23503|28|3D|3F|40|42501|42P01|53|55|57|58|XX)/.test(sqlState(error) ?? '')
}
