import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Service } from '../service.ts'
import { parseCsvHeader } from './csv.ts'
import { csvReader, importFields, type ReadRecord, readJsonLine } from './import-record.ts'
import { type FileRecord, fileRecords } from './import-records.ts'
import { Importer } from './importer.ts'
import { example, type TeamOptions, withTeam } from './options.ts'
import { Refusals } from './refusals.ts'
import { unreadable } from './secret-input.ts'
import { print, printJson, progressBar, say } from './terminal.ts'
import { type FileFormat, formatOf, formatOption } from './user-group-file.ts'
import { teamNamed, withService } from './with-service.ts'

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
A line that is refused is reported with its number and changes nothing; then the exit status is 1.
${example('ugs user-group import customers.csv --refused refused.jsonl')}`,
    )
    .action(async (file: string, options: ImportOptions, command: Command) => {
      const format = formatOf(command, file, options.format)
      const summary = await withService((service) => importFile(service, file, format, options))
      if (options.json) printJson(summary)
      else
        print(`${summary.created} created, ${summary.already_there} already there, ${summary.refused} lines refused.`)
      if (summary.refused > 0) process.exitCode = 1
    })
}

async function importFile(service: Service, file: string, format: FileFormat, { team, refused }: ImportOptions) {
  const { id } = await teamNamed(service, team)
  const input = await open(file)
  const bar = progressBar('Importing')
  const refusals = new Refusals(refused)
  const importer = new Importer(service, id, refusals)
  let done = 0
  const records = fileRecords(input.chunks, format, (bytes) => {
    done += bytes
  })
  try {
    const read = format === 'csv' ? await readerOf(records) : readJsonLine
    for await (const record of records) {
      await importer.take(record, read)
      if (importer.isIdle) bar.show(done, input.size ?? done)
    }
    await importer.end()
    bar.show(done, done)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).syscall === 'read' ? unreadable(file, error) : error
  } finally {
    bar.end()
    await refusals.end()
  }
  return importer.summary
}

async function open(file: string): Promise<{ chunks: AsyncIterable<Uint8Array>; size: number | undefined }> {
  if (file === '-') return { chunks: process.stdin, size: undefined }
  try {
    return { chunks: createReadStream(file, { highWaterMark: 256 * 1024 }), size: (await stat(file)).size }
  } catch (error) {
    throw unreadable(file, error)
  }
}

async function readerOf(records: AsyncGenerator<FileRecord>): Promise<ReadRecord> {
  const { value } = await records.next()
  const columns = parseCsvHeader(value?.text ?? '')
  const unknown = columns.filter((column) => !importFields.some((field) => field === column))
  if (unknown.length > 0) say(`Not a field of a user group, and ignored: ${unknown.join(', ')}.`)
  return csvReader(columns)
}
