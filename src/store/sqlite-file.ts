import { backup, DatabaseSync } from 'node:sqlite'
import { patience } from './sqlite-connection.ts'
import { codes, isBusy, primaryCode } from './sqlite-errors.ts'

/** What is wrong with a file that should be a database; undefined when it is whole. */
export function faultIn(path: string): string | undefined {
  let connection: DatabaseSync | undefined
  try {
    connection = new DatabaseSync(path, { readOnly: true })
    const [found] = connection.prepare('pragma integrity_check(1)').all()
    const [complaint] = Object.values(found ?? {})
    if (complaint !== 'ok') return String(complaint).replaceAll('\n', ' ')
    const [astray] = connection.prepare('pragma foreign_key_check').all()
    return astray && `a row of ${astray.table} refers to one that is not there`
  } catch (error) {
    return (error as Error).message
  } finally {
    connection?.close()
  }
}

/** A consistent copy, taken page by page while others read and write. */
export async function copySqlite(path: string, copy: string, onProgress: (done: number, total: number) => void) {
  const source = new DatabaseSync(path, { timeout: patience, readOnly: true })
  try {
    // One read transaction for all of it: otherwise the copy begins anew with every commit of the service.
    source.exec('begin')
    source.prepare('select count(*) from sqlite_schema').get()
    await backup(source, copy, {
      rate: 1_000,
      progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
    })
  } finally {
    source.close()
  }
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
