import type { Command } from 'commander'
import { counted } from './counted.ts'
import { example, type TeamOptions, withTeam } from './options.ts'
import { print, printJson } from './terminal.ts'
import { type FileFormat, formatOf, formatOption } from './user-group-file.ts'
import { withService } from './with-service.ts'

interface ImportOptions extends TeamOptions {
  format?: FileFormat
  refused?: string
}

export function addUserGroupImport(userGroup: Command): void {
  withTeam(userGroup.command('import'), 'print the summary as JSON')
    .description('Create the user groups of a file, with the tokens they have already if it says so.')
    .argument('<file>', 'the file, or - for standard input')
    .addOption(formatOption())
    .option('--refused <file>', 'write what is refused there as JSON Lines, instead of to standard error')
    .addHelpText(
      'after',
      `
JSON Lines: an object a line, with user_group_id and, as you like, name, mapping, properties, disabled and token.
CSV: a first line with the same names; mapping and properties as JSON in a cell, an empty cell is a field not given.
A token is one your customers use already: 16 to 255 visible ASCII characters, it stays valid. Without, one is made.

A user group that is there already is left as it is, so an import that was interrupted can simply be run again.
A line that is refused is reported with its number and changes nothing; then the exit status is 1. One that brings
another token than its group has is refused too. Ended by Ctrl-C the exit status is 130, by SIGTERM 143.
${example('ugs user-group import customers.csv --refused refused.jsonl')}`,
    )
    .action(async (file: string, options: ImportOptions, command: Command) => {
      const format = formatOf(command, file, options.format)
      // Loaded only here: the rules for what comes in take longer to load than most commands to run.
      const { importFile } = await import('./import-file.ts')
      const summary = await withService((service) => importFile(service, file, { ...options, format }))
      if (options.json) printJson(summary)
      else
        print(
          `${summary.created} created, ${summary.already_there} already there, ${counted(summary.refused, 'line')} refused.`,
        )
      if (summary.refused > 0) process.exitCode = 1
    })
}
