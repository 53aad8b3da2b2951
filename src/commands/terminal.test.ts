import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { explain, when } from './terminal.ts'

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
