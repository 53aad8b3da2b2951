import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Together } from './together.ts'

describe('what is done together', () => {
  it('is all that came up until then, in order and once; what comes up meanwhile is done the next time', () => {
    const scheduled: (() => void)[] = []
    const done: number[][] = []
    const together = new Together<number>(
      (work) => scheduled.push(work),
      (items) => {
        done.push([...items])
        if (items.includes(1)) together.add(4)
      },
    )
    for (const item of [1, 2, 3]) together.add(item)
    assert.equal(scheduled.length, 1)
    scheduled.shift()?.()
    assert.deepEqual(done, [[1, 2, 3]])
    assert.equal(scheduled.length, 1)
    scheduled.shift()?.()
    assert.deepEqual(done, [[1, 2, 3], [4]])
    assert.equal(scheduled.length, 0)
  })

  it('is done at once when there is enough of it', () => {
    const scheduled: (() => void)[] = []
    const done: number[][] = []
    const together = new Together<number>(
      (work) => scheduled.push(work),
      (items) => done.push([...items]),
      2,
    )
    for (const item of [1, 2, 3]) together.add(item)
    assert.deepEqual(done, [[1, 2]])
    for (const work of scheduled) work()
    assert.deepEqual(done, [[1, 2], [3]])
  })

  it('goes on after a piece of work has failed', () => {
    const done: number[] = []
    const scheduled: (() => void)[] = []
    const together = new Together<number>(
      (work) => scheduled.push(work),
      ([item]) => {
        if (item === 1) throw new Error('failed')
        done.push(item ?? 0)
      },
    )
    together.add(1)
    assert.throws(() => scheduled.shift()?.())
    together.add(2)
    scheduled.shift()?.()
    assert.deepEqual(done, [2])
  })
})
