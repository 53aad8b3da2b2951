import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { catalogue, type ErrorCode } from '../../src/errors.ts'
import { operations } from '../../src/operations.ts'
import { inCode, rowsOf, table, tableIn } from './markdown.ts'

const codes = Object.keys(catalogue) as ErrorCode[]
const path = 'docs/errors.md'

describe('docs/errors.md', () => {
  it('shows the catalogue of src/errors.ts', () => {
    const headings = ['Status', 'Code', 'Message']
    const declared = codes.map((code) => [
      String(catalogue[code].status),
      inCode(code),
      escaped(catalogue[code].message),
    ])
    assert.equal(tableIn(path, ...headings), table(headings, declared))
  })

  it('says of every code what to do and whether to retry', () => {
    const advised = rowsOf(tableIn(path, 'Code', 'What to do', 'Retry'))
    assert.deepEqual(
      advised.map(([code]) => code),
      codes.map(inCode),
    )
    for (const [code = '', advice, retry = ''] of advised) {
      assert.ok(advice, `${code} has no advice`)
      assert.match(retry, /^(yes|no|later)$/, code)
    }
  })

  it('says of a scope that is not enough that for /metrics it is the team that counts', () => {
    const advised = rowsOf(tableIn(path, 'Code', 'What to do', 'Retry'))
    const [, advice = ''] = advised.find(([code]) => code === inCode('insufficient_scope')) ?? []
    assert.match(advice, /`\/metrics`.*first team/)
  })

  it('shows which codes each operation adds to those that all can give', () => {
    const headings = ['Operation', 'Codes']
    const declared = operations
      .filter(({ errors }) => errors.length > 0)
      .map((operation) => [inCode(`${operation.method} ${operation.path}`), operation.errors.map(inCode).join(', ')])
    assert.equal(tableIn(path, ...headings), table(headings, declared))
  })
})

/** Outside code a forge takes <API_TOKEN> for HTML. */
function escaped(message: string): string {
  return message.replaceAll('<', '\\<')
}
