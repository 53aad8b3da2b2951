import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inPieces } from './pieces.ts'

describe('an object in pieces', () => {
  for (const [what, object] of Object.entries({
    'nothing in it': {},
    'an empty list': { list: [] },
    'a list and more behind it': { first: 1, list: [1, 'two', null, { three: [3] }], 'the "next"': null },
    'a long list': {
      list: Array.from({ length: 2_000 }, (_, index) => ({ index, text: '€😀'.repeat(20) })),
      next: 'a',
    },
  }))
    it(`is the same text as at once, with ${what}`, () => {
      assert.equal(inPieces(object).join(''), JSON.stringify(object))
    })

  it('has no long piece, however long the list', () => {
    const pieces = inPieces({ list: Array.from({ length: 500 }, () => 'x'.repeat(1_000)) })
    assert.ok(pieces.length > 10)
    assert.ok(Math.max(...pieces.map(({ length }) => length)) < 35_000)
  })
})
