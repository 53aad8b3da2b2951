import assert from 'node:assert/strict'
import { executionAsyncResource } from 'node:async_hooks'
import { describe, it } from 'node:test'
import { firstTick } from './first-tick.ts'

describe('the tick that is kept', () => {
  it('has the shape of every other', async () => {
    const other = await new Promise<object>((resolve) => process.nextTick(() => resolve(executionAsyncResource())))
    const kept = firstTick.object
    assert(kept !== undefined && kept !== other)
    assert(Object.hasOwn(kept, 'callback'))
    assert.deepEqual(Reflect.ownKeys(kept), Reflect.ownKeys(other))
  })
})
