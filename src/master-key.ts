import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type MasterKeySource, makeMasterKey, parseMasterKeys } from './config.ts'
import { OperatorError } from './operator-error.ts'
import { makeFolder } from './store/make-folder.ts'
import { refuseOther } from './store/sqlite.ts'
import { isThere } from './store/sqlite-presence.ts'
import { KeyRing } from './tokens/key-ring.ts'

/** The configured master keys; makes the key file when the database beside it is still to be made. */
export function loadKeyRing(source: MasterKeySource): KeyRing {
  if (source.kind === 'missing') throw new OperatorError('There is no master key.', 'Set UGS_MASTER_KEY.')
  return new KeyRing(source.kind === 'value' ? source.keys : readKeyFile(source.path, source.besideDatabase))
}

function readKeyFile(path: string, database: string | undefined): Buffer[] {
  const isFirstStart = database !== undefined && !isThere(database)
  const text = readIfThere(path) ?? (isFirstStart ? createKeyFile(path) : undefined)
  if (text === undefined) throw missingKey(path, database)
  try {
    return parseMasterKeys(text.trim())
  } catch (error) {
    const mayBeNew = database === undefined || isFirstStart
    throw new OperatorError(
      `The master key file ${path} is damaged: ${(error as Error).message}.`,
      `Restore it from your backup: without it the stored tokens cannot be opened.${mayBeNew ? forNewDatabase : ''}`,
    )
  }
}

const forNewDatabase = ` For a new database, write into it what this prints: ${makeMasterKey}`

function missingKey(path: string, database: string | undefined): OperatorError {
  if (database === undefined)
    return new OperatorError(
      `The master key file ${path} does not exist.`,
      `Correct UGS_MASTER_KEY_FILE, or restore the file from your backup.${forNewDatabase}`,
    )
  refuseOther(database)
  return new OperatorError(
    `The master key file ${path} does not exist, but the database beside it does.`,
    'Restore it from your backup, or set UGS_MASTER_KEY: without the key the stored tokens cannot be opened.',
  )
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new OperatorError(
      `The master key file ${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`,
      'Make it readable for the user the service runs as, mode 0600.',
      error,
    )
  }
}

function createKeyFile(path: string): string {
  try {
    linkIntoPlace(path)
  } catch (error) {
    throw new OperatorError(
      `The master key file ${path} cannot be made: ${(error as Error).message}.`,
      'Make sure that its folder is writable for the user the service runs as and has room, or set UGS_MASTER_KEY.',
      error,
    )
  }
  return readFileSync(path, 'utf8')
}

/** Written aside first: of two processes that start at once, both end up with the same whole file. */
function linkIntoPlace(path: string): void {
  makeFolder(dirname(path))
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}
