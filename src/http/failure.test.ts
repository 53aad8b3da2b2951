import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ServiceError } from '../errors.ts'
import { MissingMasterKey, SealError } from '../tokens/key-ring.ts'
import { asFailure } from './failure.ts'

it('a master key that is missing is a matter of settings, any other value that does not open a fault of ours', () => {
  const codeOf = (error: unknown) => asFailure(error).code
  assert.equal(codeOf(new MissingMasterKey('not there')), 'unavailable')
  assert.equal(codeOf(new SealError('changed')), 'internal')
  assert.equal(codeOf(new TypeError('x')), 'internal')
  assert.equal(codeOf(new ServiceError('conflict')), 'conflict')
})
