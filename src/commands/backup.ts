import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { OperatorError } from '../operator-error.ts'
import { copySqlite } from '../store/sqlite-file.ts'
import { existsAlready, putInPlace, withDraft } from './draft.ts'
import { example } from './options.ts'
import { progressBar } from './progress-bar.ts'
import { print, printJson } from './terminal.ts'
import { refuseMissing } from './with-service.ts'

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('Copy the SQLite database to a file, while the service runs.')
    .argument('<file>', 'where to put the copy; it must not exist yet')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
The copy holds no token in the clear and is worth nothing without the master key: keep that one too, elsewhere.
To restore it, stop the service and run: ugs restore
${example('ugs backup /backups/user-groups-$(date +%F).db')}`,
    )
    .action(async (file: string, options: { json?: boolean }, command: Command) => {
      if (file === '-') command.error('error: a database is not copied to standard output: name a file')
      const { database } = readConfig(process.env)
      if (database.engine !== 'sqlite')
        throw new OperatorError('ugs backup copies SQLite databases only.', 'For PostgreSQL use pg_dump.')
      refuseMissing(database)
      const target = resolve(file)
      if (existsSync(target)) throw existsAlready(target)
      await backUp(database.path, target)
      if (options.json) printJson({ file: target })
      else
        print(
          `Backed up to ${target}. Keep a copy of the master key elsewhere: the backup is worth nothing without it.`,
        )
    })
}

/** Made aside and put in place then: the file is there whole, or not at all. */
async function backUp(database: string, target: string): Promise<void> {
  const bar = progressBar('Copying')
  try {
    await withDraft(target, async (draft) => {
      await copySqlite(database, draft, bar.show)
      await putInPlace(draft, target)
    })
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `The backup failed: ${(error as Error).message}.`,
      `Check that the folder of ${target} exists, is writable and has room.`,
      error,
    )
  } finally {
    bar.end()
  }
}
