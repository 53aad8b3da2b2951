import { ServiceError } from '../errors.ts'
import { MissingTable, UniqueViolation } from './database.ts'

/** SQLite's primary codes for a fault of the moment, be it a long one (https://www.sqlite.org/rescode.html). */
export const codes = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  interrupted: 9,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  notADatabase: 26,
}
const transientCodes: ReadonlySet<number> = new Set(Object.values(codes))
const foreignKeyViolation = 787
const primaryKeyViolation = 1555
const uniqueViolation = 2067
const remedies = new Map<number, string>([
  [codes.busy, 'Another process holds it, perhaps a start that migrates it: try again once that is done.'],
  [codes.full, 'Make room on the disk of the file that DATABASE_URL names.'],
  [
    codes.readOnly,
    'Make the file that DATABASE_URL names, those beside it and their folder writable for the user who runs this.',
  ],
])

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === codes.busy
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

export function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number } | undefined)?.errcode
  return code === undefined ? undefined : code & 0xff
}
