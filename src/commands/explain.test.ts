import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { explain } from './explain.ts'

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

  it('tells what the database refuses, and what to do about it', () => {
    const refusals = {
      'permission denied for schema public': { code: '42501', remedy: /owner of the database, or grant/ },
      'no schema has been selected to create in': { code: '3F000', remedy: /search_path/ },
      'cannot execute INSERT in a read-only transaction': { code: '25006', remedy: /the server that takes writes/ },
      'canceling statement due to lock timeout': { code: '55P03', remedy: /perhaps a dump .* try again/ },
      'terminating connection due to transaction timeout': { code: '25P04', remedy: /transaction_timeout to 0/ },
      'sorry, too many clients already': { code: '53300', remedy: /each process opens up to 10/ },
      'database or disk is full': { errcode: 13, remedy: /Make room/ },
    }
    for (const [reason, { remedy, ...code }] of Object.entries(refusals)) {
      const cause = Object.assign(new Error(reason), code)
      const [sentence, advice] = explain(new ServiceError('unavailable', { cause })).split('\n')
      assert.equal(sentence, `ugs: The database refuses: ${reason}.`)
      assert.match(advice ?? '', remedy)
    }
  })

  it('asks for a report when nobody foresaw it, and shows no stack', () => {
    for (const error of [new TypeError('x is not a function'), 'x is not a function'])
      assert.match(explain(error), /^ugs: x is not a function\n {2}This is a bug: please report it .*$/)
  })
})
