import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { counted } from './counted.ts'

describe('a number of things', () => {
  it('is in the singular for one only', () => {
    const said = [0, 1, 2, 21].map((count) => counted(count, 'user group'))
    assert.deepEqual(said, ['0 user groups', '1 user group', '2 user groups', '21 user groups'])
  })
})
