import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { read, rowsOf, tableIn, tables } from './markdown.ts'

const path = 'docs/security-review.md'

/** How many requirements each section of ASVS 5.0.0 has. */
const asvs: Record<string, readonly number[]> = {
  1: [2, 10, 12, 3, 3],
  2: [3, 3, 5, 2],
  3: [1, 3, 5, 8, 8, 1, 5],
  4: [5, 5, 2, 4],
  5: [1, 6, 3, 3],
  6: [3, 12, 8, 6, 8, 4, 2, 4],
  7: [3, 4, 2, 5, 3, 2],
  8: [4, 4, 3, 2],
  9: [3, 4],
  10: [2, 3, 5, 16, 5, 2, 3],
  11: [4, 5, 5, 4, 2, 2, 2],
  12: [5, 2, 5],
  13: [4, 6, 4, 7],
  14: [2, 8, 3],
  15: [5, 5, 7, 4],
  16: [1, 5, 4, 3, 4],
  17: [2, 8, 2],
}

const required = Object.entries(asvs).flatMap(([chapter, sections]) =>
  sections.flatMap((count, index) => Array.from({ length: count }, (_, at) => `${chapter}.${index + 1}.${at + 1}`)),
)

/** "6.2.1–6.2.12, 7.1.1" as the numbers it stands for. */
function numbersIn(cell: string): string[] {
  return cell.split(', ').flatMap((part) => {
    const [first = '', last = first] = part.split('–')
    const section = first.replace(/\.\d+$/, '')
    assert.ok(last.startsWith(`${section}.`), `${part} runs over the end of a section`)
    const [from, to] = [first, last].map((number) => Number(number.split('.')[2]))
    assert.ok(from !== undefined && to !== undefined && to >= from, part)
    return Array.from({ length: to - from + 1 }, (_, index) => `${section}.${from + index}`)
  })
}

describe('docs/security-review.md', () => {
  const listed = tables(read(path)).filter((text) => text.startsWith('| No.'))

  it('has every requirement of ASVS 5.0.0, each once', () => {
    assert.equal(required.length, 345)
    const reviewed = listed.flatMap(rowsOf).flatMap(([cell = '']) => numbersIn(cell))
    const byNumber = (a: string, b: string) => required.indexOf(a) - required.indexOf(b)
    assert.deepEqual(reviewed.sort(byNumber), required)
  })

  it('names a test or a campaign for every line that is met', () => {
    const met = [
      ...listed.filter((text) => text.includes('Shown by')).flatMap(rowsOf),
      ...rowsOf(tableIn(path, 'Risk', 'How it is met', 'Shown by')),
    ]
    assert.ok(met.length > 100)
    for (const row of met) {
      const [number = '', ...rest] = row
      const shownBy = rest.at(-1) ?? ''
      assert.match(shownBy, /^(`(test|src|campaigns)\/[\w./-]+\.ts`(, |$))+$/, number)
    }
  })

  it('has the ten risks of the API Security Top 10', () => {
    const risks = rowsOf(tableIn(path, 'Risk', 'How it is met', 'Shown by')).map(([risk = '']) => risk.split(' ')[0])
    assert.deepEqual(
      risks,
      Array.from({ length: 10 }, (_, index) => `API${index + 1}`),
    )
  })
})
