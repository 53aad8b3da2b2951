import { ServiceError } from '../errors.ts'
import { MissingTable, UniqueViolation } from './database.ts'

const busy = 5
const readOnly = 8
const full = 13
const foreignKeyViolation = 787
const primaryKeyViolation = 1555
const uniqueViolation = 2067
const transientCodes = new Set([busy, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26])
const remedies = new Map([
  [busy, 'Another process holds it, perhaps a start that migrates it: try again once that is done.'],
  [full, 'Make room on the disk of the file that DATABASE_URL names.'],
  [
    readOnly,
    'Make the file that DATABASE_URL names, those beside it and their folder writable for the user who runs this.',
  ],
])

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === busy
}

/** For what keeps a database from being written, though there is nothing wrong with it. */
export function remedyFor(error: unknown): string | undefined {
  return remedies.get(primaryCode(error) ?? 0)
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
  const code = (error as { errcode?: number } | undefined)?.errcode
  return code === undefined ? undefined : code & 0xff
}
