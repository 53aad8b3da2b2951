import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { growingTable, table } from './table.ts'

describe('a table', () => {
  it('puts every cell under its heading, and no blanks at the end of a line', () => {
    assert.equal(
      table(
        ['ID', 'NAME', 'CREATED'],
        [
          ['1', 'First team', '2026-01-01'],
          ['12345', 'B', '-'],
        ],
      ),
      ['ID     NAME        CREATED', '1      First team  2026-01-01', '12345  B           -'].join('\n'),
    )
  })

  it('shows its headings when there is nothing to list', () => {
    assert.equal(table(['ID', 'NAME'], []), 'ID  NAME')
  })

  it('gives letters of double width the places they take, and marks none', () => {
    const rows = [
      ['日本語', '1'],
      ['Zoe\u0308', '2'],
    ]
    assert.equal(table(['NAME', 'ID'], rows), 'NAME    ID\n日本語  1\nZoe\u0308     2')
  })

  it('begins each column at the same place in every line, whatever is in the cells', () => {
    const word = fc.string({ unit: fc.constantFrom(...'abcXYZ019-,.'), minLength: 1, maxLength: 30 })
    const sheet = fc
      .integer({ min: 1, max: 6 })
      .chain((columns) =>
        fc.array(fc.array(word, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }),
      )
    fc.assert(
      fc.property(sheet, ([headings = [], ...rows]) => {
        const lines = table(headings, rows).split('\n')
        assert.equal(lines.length, rows.length + 1)
        let start = 0
        for (const column of headings.keys()) {
          for (const [index, row] of [headings, ...rows].entries())
            assert.equal(lines[index]?.slice(start).split('  ')[0], row[column], `line ${index}, column ${column}`)
          start += Math.max(...[headings, ...rows].map((row) => row[column]?.length ?? 0)) + 2
        }
        assert.ok(lines.every((line) => line === line.trimEnd()))
      }),
    )
  })

  it('that grows keeps its columns in place, and widens one only for what does not fit', () => {
    const more = growingTable(['ID', 'KIND', 'BY'], [['', 'created']])
    assert.equal(more([['1', 'b', 'c']]), 'ID  KIND     BY\n1   b        c')
    assert.equal(more([]), '')
    assert.equal(more([['2', 'updated', 'c']]), '2   updated  c')
    assert.equal(more([['3', 'no longer there', 'c']]), '3   no longer there  c')
    assert.equal(more([['4', 'b', 'c']]), '4   b                c')
  })

  it('that grows shows its headings before there is anything to list', () => {
    assert.equal(growingTable(['ID', 'NAME'], [['12345']])([]), 'ID     NAME')
  })
})
