import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Places } from './places.ts'

describe('places', () => {
  it('are given to those who wait in the order in which they came', async () => {
    const places = new Places(2, 1_000)
    const order: string[] = []
    const come = async (name: string) => {
      await places.take()
      order.push(name)
    }
    const coming = ['one', 'two', 'three', 'four', 'five'].map(come)
    await Promise.all(coming.slice(0, 2))
    assert.deepEqual([order, places.waiting], [['one', 'two'], 3])
    places.leave()
    await coming[2]
    places.leave()
    await coming[3]
    assert.deepEqual([order, places.waiting], [['one', 'two', 'three', 'four'], 1])
    for (const _ of order) places.leave()
    await coming[4]
    await come('six')
    assert.equal(places.waiting, 0)
  })

  it('are not waited for for ever, and who has given up takes none', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const places = new Places(1, 5_000)
    await places.take()
    const late = places.take()
    t.mock.timers.tick(4_999)
    assert.equal(places.waiting, 1)
    t.mock.timers.tick(1)
    await assert.rejects(Promise.resolve(late), /timeout/)
    assert.equal(places.waiting, 0)
    places.leave()
    await places.take()
    const next = places.take()
    places.leave()
    await next
  })
})
