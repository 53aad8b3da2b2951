import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { when } from './terminal.ts'

describe('a time', () => {
  it('is shown in ISO 8601 and UTC, and none as a dash', () => {
    assert.equal(when(Date.UTC(2027, 0, 31)), '2027-01-31T00:00:00.000Z')
    assert.equal(when(0), '1970-01-01T00:00:00.000Z')
    assert.equal(when(null), '-')
  })
})
