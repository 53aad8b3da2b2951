import { createReadStream, fstatSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import { withoutTokens } from '../tokens/format.ts'
import { counted } from './counted.ts'
import { parseCsvHeader } from './csv.ts'
import { explanation } from './explain.ts'
import { csvReader, type ReadRecord, readJsonLine } from './import-record.ts'
import { type FileRecord, fileRecords } from './import-records.ts'
import { Importer } from './importer.ts'
import { progressBar } from './progress-bar.ts'
import { Refusals } from './refusals.ts'
import { unreadable } from './secret-input.ts'
import { say } from './terminal.ts'
import { type FileFormat, fileFields } from './user-group-file.ts'
import { visible } from './visible.ts'
import { teamNamed } from './with-service.ts'

/** Npm may pass the same one on twice, so all of them are heard until it has stopped. */
const endings = ['SIGINT', 'SIGTERM'] as const
/** Enough to see what is wrong with a file. */
const mostIgnored = 20

interface ImportOptions {
  team: number
  format: FileFormat
  /** A file for what is refused. */
  refused?: string | undefined
}

export async function importFile(service: Service, file: string, { team, format, refused }: ImportOptions) {
  const { id } = await teamNamed(service, team)
  const from = await statsOf(file)
  const refusals = await Refusals.open(refused, from)
  const bar = progressBar('Importing', (bytes) => `${(bytes / 1e6).toFixed(1)} MB`)
  const importer = new Importer(service, id, refusals)
  let done = 0
  const input = chunksOf(file)
  const records = fileRecords(input, format, (bytes) => {
    done += bytes
  })
  let ending: NodeJS.Signals | undefined
  const endBy = (signal: NodeJS.Signals) => {
    ending ??= signal
    input.destroy(endedBy(signal))
  }
  for (const signal of endings) process.on(signal, endBy)
  const ignored = new Set<string>()
  let failure: unknown
  try {
    const read = format === 'csv' ? await readerOf(records) : noting(ignored)
    for await (const record of records) {
      await importer.take(record, read)
      if (importer.isIdle) bar.show(done, Math.max(from.size, done))
    }
    await importer.end()
    bar.show(done, done)
  } catch (error) {
    await importer.settled()
    // As of a program that the signal ends, so that a script can tell it from lines that were refused.
    if (ending !== undefined) process.exitCode = 128 + constants.signals[ending]
    const isReading = ['open', 'read'].includes((error as NodeJS.ErrnoException).syscall ?? '')
    failure = isReading ? unreadable(file, error) : error
  }
  for (const signal of endings) process.off(signal, endBy)
  bar.end()
  // What went wrong first is what is told.
  await refusals.end().catch((error: unknown) => {
    failure ??= error
  })
  tellIgnored([...ignored])
  if (failure !== undefined) throw halfWay(failure, importer.summary.created)
  return importer.summary
}

async function statsOf(file: string): Promise<Stats> {
  if (file === '-') return fstatSync(0)
  return stat(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
}

function chunksOf(file: string): Readable {
  return file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 })
}

async function readerOf(records: AsyncGenerator<FileRecord>): Promise<ReadRecord> {
  const { value } = await records.next()
  const columns = parseCsvHeader(value?.text ?? '')
  tellIgnored(columns.filter(isUnknown))
  return csvReader(columns)
}

/** A line may have any fields: those that are none of ours are told at the end. */
function noting(ignored: Set<string>): ReadRecord {
  return (text) => {
    const record = readJsonLine(text)
    for (const field of Object.keys(record).filter(isUnknown)) if (ignored.size < mostIgnored) ignored.add(field)
    return record
  }
}

function isUnknown(name: string): boolean {
  return !fileFields.some((field) => field === name)
}

function tellIgnored(names: readonly string[]): void {
  if (names.length > 0) say(`Not a field of a user group, and ignored: ${visible(withoutTokens(names.join(', ')))}.`)
}

function endedBy(signal: NodeJS.Signals): OperatorError {
  return new OperatorError(`The import was ended by ${signal}.`, 'No line was imported by half.')
}

/** Whoever runs it again need not begin anew. */
function halfWay(error: unknown, created: number): unknown {
  if (created === 0) return error
  const { sentence, remedy } = explanation(error)
  const far = `${counted(created, 'user group')} created so far: run it again, and it goes on with the rest.`
  return new OperatorError(sentence, `${remedy} ${far}`, error)
}
