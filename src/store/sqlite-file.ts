import { existsSync, statSync } from 'node:fs'
import { backup, DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { OperatorError } from '../operator-error.ts'
import { patience } from './sqlite-connection.ts'
import { codes, isBusy, primaryCode } from './sqlite-errors.ts'
import { cutShort, isCutShort, sqliteRefusal } from './sqlite-fitness.ts'

/** What is wrong with a file that should be a database; undefined when it is whole. */
export function faultIn(path: string): string | undefined {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(path, { readOnly: true })
    const [found] = connection.prepare('pragma integrity_check(1)').all()
    const [complaint] = Object.values(found ?? {})
    if (complaint !== 'ok') return String(complaint).replaceAll('\n', ' ')
    if (isCutShort(connection, path)) return cutShort
    const [astray] = connection.prepare('pragma foreign_key_check').all()
    return astray && `a row of ${astray.table} refers to one that is not there`
  } catch (error) {
    return (error as Error).message
  } finally {
    connection?.close()
  }
}

/** Moves what its -wal file holds into the database itself. Where that fails, closing it would leave both and say nothing. */
export function foldLog(path: string): void {
  const connection = new DatabaseSync(path)
  try {
    connection.exec('pragma wal_checkpoint(truncate)')
  } finally {
    connection.close()
  }
}

/** A consistent copy, taken page by page while others read and write. */
export async function copySqlite(path: string, copy: string, onProgress: (done: number, total: number) => void) {
  const { source, refuseChanged } = openSource(path)
  try {
    await backup(source, copy, {
      rate: 1_000,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    })
    refuseChanged()
  } finally {
    source.close()
  }
}

/**
 * Where nothing can be written, as on a disk that has become read-only, SQLite opens a database only when it is told that
 * nobody changes it. So it is, unless there is a log, with changes that would be missing.
 */
function openSource(path: string): { source: DatabaseSync; refuseChanged(): void } {
  try {
    return { source: beginReading(path), refuseChanged: () => {} }
  } catch (error) {
    const hasLog = () => existsSync(`${path}-wal`) || existsSync(`${path}-journal`)
    const isReadOnly = [codes.cannotOpen, codes.readOnly].includes(primaryCode(error) ?? 0)
    if (!isReadOnly) throw sqliteRefusal(path, error)
    if (hasLog()) throw unreadable(path, error)
    const before = statSync(path)
    const refuseChanged = () => {
      const after = statSync(path)
      if (hasLog() || after.mtimeMs !== before.mtimeMs || after.size !== before.size)
        throw new OperatorError(`${path} was changed while it was copied.`, 'Run it again, as the user of the service.')
    }
    try {
      return { source: beginReading(`${pathToFileURL(path)}?immutable=1`), refuseChanged }
    } catch {
      throw unreadable(path, error)
    }
  }
}

function beginReading(path: string): DatabaseSync {
  const source = new DatabaseSync(path, { timeout: patience, readOnly: true })
  try {
    // One read transaction for all of it: otherwise the copy begins anew with every commit of the service.
    source.exec('begin')
    source.prepare('select count(*) from sqlite_schema').get()
    return source
  } catch (error) {
    source.close()
    throw error
  }
}

function unreadable(path: string, error: unknown): OperatorError {
  return new OperatorError(
    `The SQLite database ${path} cannot be opened: ${(error as Error).message}.`,
    'Check that you may read it. If its folder is read-only, copy it with its -wal file to another, and back that up.',
    error,
  )
}

/**
 * Calls `use` while nobody else can open the database, and returns false when somebody has it open. What its -wal file
 * held is in the database itself by then. One that is too damaged to be opened is nobody's.
 */
export function whileUnused(path: string, use: () => void): boolean {
  const connection = new DatabaseSync(path)
  try {
    if (!isOurs(connection)) return false
    use()
    return true
  } finally {
    connection.close()
  }
}

function isOurs(connection: DatabaseSync): boolean {
  try {
    connection.exec('pragma locking_mode = exclusive; pragma journal_mode = delete; begin exclusive; commit')
    return true
  } catch (error) {
    const code = primaryCode(error)
    if (code === codes.corrupt || code === codes.notADatabase) return true
    if (isBusy(error)) return false
    throw error
  }
}
