import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { explain, table, when } from './terminal.ts'

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
})

describe('a time', () => {
  it('is shown in ISO 8601 and UTC, and none as a dash', () => {
    assert.equal(when(Date.UTC(2027, 0, 31)), '2027-01-31T00:00:00.000Z')
    assert.equal(when(0), '1970-01-01T00:00:00.000Z')
    assert.equal(when(null), '-')
  })
})

describe('an error explained to an operator', () => {
  it('is one sentence and a remedy', () => {
    assert.equal(
      explain(new OperatorError('There is no team 5.', 'List them.')),
      'ugs: There is no team 5.\n  List them.',
    )
  })

  it('tells why the database does not answer', () => {
    const text = explain(new ServiceError('unavailable', { cause: new Error('connection refused') }))
    assert.match(text, /^ugs: The database does not answer: connection refused\.\n {2}Run ugs doctor\.$/)
  })

  it('asks for a report when nobody foresaw it, and shows no stack', () => {
    for (const error of [new TypeError('x is not a function'), 'x is not a function'])
      assert.match(explain(error), /^ugs: x is not a function\n {2}This is a bug: please report it .*$/)
  })
})
