import { accessSync, chmodSync, constants, existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { copyFile, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { isoTime, systemClock } from '../clock.ts'
import { type MasterKeySource, readConfig } from '../config.ts'
import { loadKeyRing } from '../master-key.ts'
import { OperatorError } from '../operator-error.ts'
import { makeFolder } from '../store/make-folder.ts'
import { openStore } from '../store/open.ts'
import { openOwn } from '../store/sqlite-connection.ts'
import { faultIn, foldLog, whileUnused } from '../store/sqlite-file.ts'
import type { KeyRing } from '../tokens/key-ring.ts'
import { proveKeys } from '../unlock.ts'
import { withDraft } from './draft.ts'
import { example } from './options.ts'
import { unreadable } from './secret-input.ts'
import { print, printJson } from './terminal.ts'

export function addRestoreCommand(program: Command): void {
  program
    .command('restore')
    .description('Put a copy made by "ugs backup" in the place of the SQLite database.')
    .argument('<file>', 'the copy; it stays where it is')
    .option('--force', 'also where a database is already; that one is kept under another name')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Stop the service first, and put the master key of the copy's time in its place. Nothing is replaced before the copy has
proven to be sound in its structure and the key to belong to it; a copy of an older version is brought up to date. Tokens
that were rotated or revoked since the copy was made are valid again.
${example('ugs restore /backups/user-groups-2026-11-15.db --force')}`,
    )
    .action(async (file: string, options: { force?: boolean; json?: boolean }) => {
      const { database, masterKey } = readConfig(process.env)
      if (database.engine !== 'sqlite')
        throw new OperatorError('ugs restore puts SQLite databases in place only.', 'For PostgreSQL use pg_restore.')
      const copy = resolve(file)
      refuseUnfit(copy)
      if (existsSync(database.path) && !options.force)
        throw new OperatorError(
          `There is a database at ${database.path} already.`,
          'Check DATABASE_URL. With --force the one that is there is kept under another name.',
        )
      const kept = await restore(copy, database.path, existingKeys(masterKey))
      if (options.json) return printJson({ database: database.path, kept })
      print(`Restored ${database.path} from ${copy}.`)
      if (kept !== null) print(`What was there before is now ${kept}.`)
    })
}

function refuseUnfit(copy: string): void {
  if (!existsSync(copy)) throw new OperatorError(`There is no file ${copy}.`, 'Check the name of the copy.')
  if (statSync(copy).isDirectory()) throw new OperatorError(`${copy} is a folder.`, 'Name the copy in it.')
  try {
    accessSync(copy, constants.R_OK)
  } catch (error) {
    throw unreadable(copy, error)
  }
  if (existsSync(`${copy}-wal`))
    throw new OperatorError(
      `A part of ${copy} is in ${copy}-wal: a database that is open, or was not copied by ugs backup.`,
      'Copy it with ugs backup, and restore that copy.',
    )
}

/** Never makes a key: a new one opens nothing. */
function existingKeys(source: MasterKeySource): KeyRing {
  if (source.kind !== 'file') return loadKeyRing(source)
  if (!existsSync(source.path))
    throw new OperatorError(
      `The master key file ${source.path} does not exist.`,
      'Put the master key that belongs to the copy there first, or set UGS_MASTER_KEY.',
    )
  return loadKeyRing({ kind: 'file', path: source.path })
}

/** Made and proven aside: the database in its place is the old one or the new one, and whole, at any moment. */
async function restore(copy: string, path: string, ring: KeyRing): Promise<string | null> {
  try {
    makeFolder(dirname(path))
    return await withDraft(path, async (draft) => {
      await copyFile(copy, draft)
      chmodSync(draft, 0o600)
      await prove(draft, copy, ring)
      foldLog(draft)
      await flush(draft)
      return replace(path, draft)
    })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    // What the store refuses has its reason behind it.
    const { message } = ((error as Error).cause ?? error) as Error
    throw new OperatorError(
      `The restore failed: ${message}.`,
      'Nothing was replaced. Check that the folder of the database is writable and has room.',
      error,
    )
  }
}

async function prove(draft: string, copy: string, ring: KeyRing): Promise<void> {
  const fault = faultIn(draft)
  if (fault !== undefined) throw new OperatorError(`${copy} is damaged: ${fault}.`, 'Restore another copy.')
  const foreign = new OperatorError(`${copy} is no database of this service.`, 'Check the name of the copy.')
  if (!isOwn(draft)) throw foreign
  const store = await openStore({ engine: 'sqlite', path: draft }, { clock: systemClock })
  try {
    if ((await store.keys.all()).size === 0) throw foreign
    await proveKeys(ring, store.keys)
  } finally {
    await store.close()
  }
}

function isOwn(path: string): boolean {
  try {
    openOwn(path).close()
    return true
  } catch {
    return false
  }
}

/**
 * Returns the name under which what was there is kept. A -wal file that stayed would be taken for a part of the new
 * database, and spoil it.
 */
function replace(path: string, draft: string): string | null {
  const aside = `${path}.before-${isoTime(systemClock.now()).replaceAll(':', '-')}`
  const hasLog = existsSync(`${path}-wal`)
  const swap = () => {
    if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`)
    rmSync(`${path}-shm`, { force: true })
    if (existsSync(path)) linkSync(path, aside)
    renameSync(draft, path)
  }
  if (!existsSync(path)) {
    swap()
    return hasLog ? `${aside}-wal` : null
  }
  if (!whileUnused(path, swap))
    throw new OperatorError(`The database ${path} is in use.`, 'Stop the service and all commands that use it.')
  return aside
}

async function flush(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}
