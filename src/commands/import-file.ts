import { createReadStream, fstatSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Service } from '../service.ts'
import { parseCsvHeader } from './csv.ts'
import { csvReader, type ReadRecord, readJsonLine } from './import-record.ts'
import { type FileRecord, fileRecords } from './import-records.ts'
import { Importer } from './importer.ts'
import { progressBar } from './progress-bar.ts'
import { Refusals } from './refusals.ts'
import { unreadable } from './secret-input.ts'
import { say } from './terminal.ts'
import { type FileFormat, fileFields } from './user-group-file.ts'
import { teamNamed } from './with-service.ts'

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
  const records = fileRecords(chunksOf(file), format, (bytes) => {
    done += bytes
  })
  try {
    const read = format === 'csv' ? await readerOf(records) : readJsonLine
    for await (const record of records) {
      await importer.take(record, read)
      if (importer.isIdle) bar.show(done, Math.max(from.size, done))
    }
    await importer.end()
    bar.show(done, done)
  } catch (error) {
    throw ['open', 'read'].includes((error as NodeJS.ErrnoException).syscall ?? '') ? unreadable(file, error) : error
  } finally {
    bar.end()
    await refusals.end()
  }
  return importer.summary
}

async function statsOf(file: string): Promise<Stats> {
  if (file === '-') return fstatSync(0)
  return stat(file).catch((error: unknown) => {
    throw unreadable(file, error)
  })
}

function chunksOf(file: string): AsyncIterable<Uint8Array> {
  return file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 })
}

async function readerOf(records: AsyncGenerator<FileRecord>): Promise<ReadRecord> {
  const { value } = await records.next()
  const columns = parseCsvHeader(value?.text ?? '')
  const unknown = columns.filter((column) => !fileFields.some((field) => field === column))
  if (unknown.length > 0) say(`Not a field of a user group, and ignored: ${unknown.join(', ')}.`)
  return csvReader(columns)
}
