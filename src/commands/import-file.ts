import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Service } from '../service.ts'
import { parseCsvHeader } from './csv.ts'
import { csvReader, type ReadRecord, readJsonLine } from './import-record.ts'
import { type FileRecord, fileRecords } from './import-records.ts'
import { Importer } from './importer.ts'
import { Refusals } from './refusals.ts'
import { unreadable } from './secret-input.ts'
import { progressBar, say } from './terminal.ts'
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
  const unknown = columns.filter((column) => !fileFields.some((field) => field === column))
  if (unknown.length > 0) say(`Not a field of a user group, and ignored: ${unknown.join(', ')}.`)
  return csvReader(columns)
}
