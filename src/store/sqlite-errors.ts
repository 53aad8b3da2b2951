import { ServiceError } from '../errors.ts'
import { MissingTable, UniqueViolation } from './database.ts'

const busy = 5
const foreignKeyViolation = 787
const primaryKeyViolation = 1555
const uniqueViolation = 2067
const transientCodes = new Set([busy, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26])

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busy
}

export function translate(error: unknown): unknown {
  const { errcode, message } = error as Error & { errcode?: number }
  if (errcode === uniqueViolation || errcode === primaryKeyViolation) return new UniqueViolation(error)
  if (message.startsWith('no such table')) return new MissingTable(error)
  const code = primaryCode(error)
  // A reference to what was deleted just now, such as a retired master key, is a fault of the moment too.
  const isTransient = errcode === foreignKeyViolation || (code !== undefined && transientCodes.has(code))
  return isTransient ? new ServiceError('unavailable', { cause: error }) : error
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode
  return code === undefined ? undefined : code & 0xff
}
