import { isUtf8 } from 'node:buffer'

/** Room for all the fields at their largest; a longer record is a file of another kind, or a quote left open. */
const recordLimit = 1024 * 1024

const newline = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

export interface FileRecord {
  /** Where it begins, counted from 1. */
  line: number
  /** Undefined when it is no text, or too long. */
  text: string | undefined
  problem?: string
}

/**
 * Cuts a file into its records, however long it is: one a line, or in CSV up to a line end that is not in quotes. Works
 * on the bytes, as no byte of a longer UTF-8 character looks like a quote or a line end.
 */
export async function* fileRecords(
  chunks: AsyncIterable<Uint8Array>,
  format: 'jsonl' | 'csv',
  onRead: (bytes: number) => void,
): AsyncGenerator<FileRecord> {
  const record = new RecordInProgress()
  let place: CsvPlace = format === 'csv' ? 'cell start' : 'plain'
  for await (const chunk of chunks) {
    let start = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0
      if (format === 'csv') place = behind(place, byte)
      if (byte !== newline) continue
      record.lines += 1
      if (place === 'quoted') continue
      record.add(chunk.subarray(start, at))
      const complete = record.finish()
      if (complete) yield complete
      start = at + 1
    }
    record.add(chunk.subarray(start))
    onRead(chunk.length)
  }
  const last = record.finish(place === 'quoted')
  if (last) yield last
}

type CsvPlace = 'cell start' | 'plain' | 'quoted' | 'quote closed'

/** A quote opens only at the start of a cell: one that stands elsewhere by mistake spoils its own line and no other. */
function behind(place: CsvPlace, byte: number): CsvPlace {
  if (place === 'quoted') return byte === quote ? 'quote closed' : 'quoted'
  if (byte === comma || byte === newline) return 'cell start'
  return byte === quote && place !== 'plain' ? 'quoted' : 'plain'
}

class RecordInProgress {
  lines = 0
  #line = 1
  #parts: Uint8Array[] = []
  #length = 0

  add(part: Uint8Array): void {
    this.#length += part.length
    // What is too long is passed over, not kept.
    if (this.#length <= recordLimit) this.#parts.push(part)
  }

  /** Undefined for an empty line. */
  finish(unclosed = false): FileRecord | undefined {
    const line = this.#line
    const tooLong = this.#length > recordLimit
    const bytes = trimmed(Buffer.concat(this.#parts), line === 1)
    this.#line = this.lines + 1
    this.#parts = []
    this.#length = 0
    if (tooLong) return refused(line, 'is longer than 1 MiB; in CSV, a quote may have been left open')
    if (unclosed) return refused(line, 'has a quote that is never closed')
    if (!isUtf8(bytes)) return refused(line, 'is not text in UTF-8')
    return bytes.length === 0 ? undefined : { line, text: bytes.toString() }
  }
}

function trimmed(bytes: Buffer, first: boolean): Buffer {
  const begin = first && bytes.subarray(0, 3).equals(byteOrderMark) ? 3 : 0
  return bytes.subarray(begin, bytes.at(-1) === carriageReturn ? -1 : undefined)
}

function refused(line: number, problem: string): FileRecord {
  return { line, text: undefined, problem: `The record ${problem}.` }
}
