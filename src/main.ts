import './first-tick.ts'
import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { addApiTokenCommands } from './commands/api-token.ts'
import { addBackupCommand } from './commands/backup.ts'
import { addDataSourceCommands } from './commands/data-source.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addEventsCommand } from './commands/events.ts'
import { explain } from './commands/explain.ts'
import { addHelpCommand } from './commands/help.ts'
import { addKeysCommands } from './commands/keys.ts'
import { addRestoreCommand } from './commands/restore.ts'
import { addSchemaCommands } from './commands/schema.ts'
import { addServeCommand } from './commands/serve.ts'
import { addTeamCommands } from './commands/team.ts'
import { say } from './commands/terminal.ts'
import { addUserGroupCommands } from './commands/user-group.ts'
import { withoutTokens } from './tokens/format.ts'
import { version } from './version.ts'

// Databases, backups and exports are nobody else's business on this machine.
process.umask(0o077)
// A diagnostic report, where the operator has Node write them, would hold the settings, secrets among them.
process.report.excludeEnv = true
// At this signal, by which others have their logs reopened, Node opens a debugger to every user of the machine: it shows
// the master key.
process.on('SIGUSR1', () => {})
// What we say may go to a full disk, or to nobody.
process.stderr.on('error', () => {})

const program = new Command('ugs')
  .description('User Group Service: looks up, creates and rotates the user groups you show dashboards to.')
  .version(version)
  .configureOutput({ outputError: (text, write) => write(withoutTokens(text) + hintAt(text)) })
  .showHelpAfterError('(add --help for the way to call it)')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))

addServeCommand(program)
addTeamCommands(program)
addApiTokenCommands(program)
addUserGroupCommands(program)
addSchemaCommands(program)
addDataSourceCommands(program)
addEventsCommand(program)
addKeysCommands(program)
addBackupCommand(program)
addRestoreCommand(program)
addDoctorCommand(program)
addHelpCommand(program)

refuseOtherEncodings()
try {
  await program.parseAsync()
} catch (error) {
  say(explain(error))
  process.exit(process.exitCode ?? 1)
}

/** An id of the operator's own database may begin with a dash. */
function hintAt(complaint: string): string {
  return /unknown option '-[^-]/.test(complaint) ? '(an id that begins with a dash goes behind --, last of all)\n' : ''
}

/** Node puts U+FFFD in the place of what is no UTF-8: in Latin-1, Müller and Möller would be one user group. */
function refuseOtherEncodings(): void {
  if (!process.argv.some((argument) => argument.includes('\ufffd'))) return
  // Only Linux shows what was given. Elsewhere it counts as an id that has such a character itself.
  const given = '/proc/self/cmdline'
  if (existsSync(given) && !isUtf8(readFileSync(given))) program.error('error: an argument is not text in UTF-8')
}
