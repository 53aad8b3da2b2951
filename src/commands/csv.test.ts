import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { csvRecord, parseCsvHeader, parseCsvRecord } from './csv.ts'
import { type FileRecord, fileRecords } from './import-records.ts'

const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\n', '\r', ' ', '{', '😀') })
const cells = fc.array(cell, { minLength: 1, maxLength: 5 })

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function recordsOf(text: string, format: 'jsonl' | 'csv', size = 7): Promise<FileRecord[]> {
  return Array.fromAsync(fileRecords(inPieces(Buffer.from(text), size), format, () => {}))
}

describe('a record of CSV', () => {
  it('is read as it was written, whatever is in its cells', () => {
    fc.assert(fc.property(cells, (given) => assert.deepEqual(parseCsvRecord(csvRecord(given)), given)))
  })

  it('is refused when its quotes are not in order', () => {
    for (const text of ['a"b', '"a"b', '"a', '"a""', 'a,"b"c', '"']) assert.equal(parseCsvRecord(text), undefined, text)
  })

  it('names the columns of the others when it is the first', () => {
    assert.deepEqual(parseCsvHeader('name,"user_group_id"'), ['name', 'user_group_id'])
    for (const [text, problem] of [
      ['name,mapping', /names no column user_group_id/],
      ['user_group_id,name,name', /names a column twice/],
      ['user_group_id,"name', /quotes in the wrong places/],
    ] as const)
      assert.throws(() => parseCsvHeader(text), problem)
  })

  it('is refused as the first when the lines end with CR alone: all of the file would be the first', () => {
    for (const text of ['user_group_id,name\racme,"Acme"', 'name,user_group_id\racme'])
      assert.throws(() => parseCsvHeader(text), { remedy: 'End the lines with LF or CRLF.' })
  })
})

describe('a file cut into records', () => {
  it('gives the same records however it arrives, with either line end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(cells, { maxLength: 5 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom('\n', '\r\n'),
        async (rows, size, lineEnd) => {
          const written = rows.filter((row) => csvRecord(row) !== '')
          const text = written.map((row) => csvRecord(row) + lineEnd).join('')
          const read = await recordsOf(text, 'csv', size)
          assert.deepEqual(
            read.map((record) => parseCsvRecord(record.text ?? '')),
            written,
          )
        },
      ),
    )
  })

  it('knows the line where each begins, past blank lines and line breaks in quotes', async () => {
    const read = await recordsOf('a,b\n\n"x\ny\nz",1\r\nlast,2', 'csv')
    assert.deepEqual(
      read.map(({ line }) => line),
      [1, 3, 6],
    )
  })

  it('loses one line, and no more, to a quote in the wrong place', async () => {
    const read = await recordsOf('good,1\nba"d,2\ngood,3\n"open,4\ngone', 'csv')
    assert.deepEqual(
      read.map(({ line, text }) => [line, text]),
      [
        [1, 'good,1'],
        [2, 'ba"d,2'],
        [3, 'good,3'],
        [4, undefined],
      ],
    )
    assert.match(read.at(-1)?.problem ?? '', /never closed/)
  })

  it('takes quotes for what they are in JSON Lines, and a byte order mark for nothing', async () => {
    const read = await recordsOf('\ufeff{"a":"\\""}\n{"b":1}', 'jsonl')
    assert.deepEqual(
      read.map(({ text }) => text),
      ['{"a":"\\""}', '{"b":1}'],
    )
  })

  it('passes over a record that is too long, and goes on behind it', async () => {
    const read = await recordsOf(`${'x'.repeat(3 * 1024 * 1024)}\nshort`, 'jsonl', 64 * 1024)
    assert.match(read[0]?.problem ?? '', /longer than 1 MiB/)
    assert.equal(read[1]?.text, 'short')
  })
})
