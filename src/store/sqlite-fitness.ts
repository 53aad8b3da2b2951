import { accessSync, constants, existsSync, statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../operator-error.ts'
import { codes, primaryCode, remedyFor } from './sqlite-errors.ts'

/**
 * How closely to look at the file: `quick` at every page, as long as that takes no more than a moment; `thorough` however
 * long it takes, and also whether the indexes match their tables.
 */
export type Check = 'quick' | 'thorough'

const pragmas = { quick: 'quick_check', thorough: 'integrity_check' } as const

export function refuseForeign(connection: DatabaseSync): void {
  const tables = connection.prepare('select name from sqlite_schema').all()
  if (tables.length > 0 && !tables.some(({ name }) => name === 'schema_version'))
    throw new Error('it is the database of another program')
}

/** Before it is opened: SQLite would read it all the same, and make files beside it that are read-only too. */
export function refuseReadOnly(path: string): void {
  for (const file of [path, `${path}-wal`, `${path}-shm`].filter(existsSync))
    try {
      accessSync(file, constants.W_OK)
    } catch (error) {
      throw new OperatorError(
        `The file ${file} is read-only.`,
        'Make it and its folder writable for the user the service runs as.',
        error,
      )
    }
}

const mostBytesForQuick = 64 * 2 ** 20

/** A file must be whole, and take writes. */
export function refuseUnfit(connection: DatabaseSync, check: Check, path: string): void {
  connection.exec('begin immediate; rollback')
  if (isCutShort(connection, path)) throw damaged(cutShort)
  if (check === 'quick' && statSync(path).size > mostBytesForQuick) return
  const [found] = connection.prepare(`pragma ${pragmas[check]}(1)`).all()
  const finding = String(Object.values(found ?? {})[0])
  // The line before it names the database, of which there is one.
  if (finding !== 'ok') throw damaged(finding.split('\n').at(-1))
}

function damaged(finding: string | undefined): Error {
  return Object.assign(new Error(finding), { errcode: codes.corrupt })
}

export const cutShort = 'the end of its last page is missing'

/** SQLite takes what is missing for zeros. While its log holds something, a crash may have left that half written here. */
export function isCutShort(connection: DatabaseSync, path: string): boolean {
  const size = Number(connection.prepare('pragma page_size').get()?.page_size)
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return log === 0 && statSync(path).size % size !== 0
}

/** One sentence and a remedy for a file that cannot be used. */
export function sqliteRefusal(path: string, error: unknown): OperatorError {
  const { message } = error as Error
  const code = primaryCode(error)
  if (code === codes.readOnly)
    return new OperatorError(
      `The SQLite database ${path} is read-only.`,
      'Make the file and its folder writable for the user the service runs as.',
      error,
    )
  if (code === codes.corrupt)
    return new OperatorError(
      `The SQLite database ${path} is damaged: ${message}.`,
      'Put it aside with its -wal and -shm files, and restore a backup as docs/operating.md shows.',
      error,
    )
  return new OperatorError(
    `The SQLite database ${path} cannot be opened: ${message}.`,
    remedyFor(error) ??
      'Check that the path of DATABASE_URL is writable, has room and is a database of this service, or restore a backup.',
    error,
  )
}
