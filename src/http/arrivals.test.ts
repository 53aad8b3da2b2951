import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Arrivals } from './arrivals.ts'

/** Arrivals on so many connections; `meanwhile` come while it sleeps. */
function arrivalsOn(connections: number, meanwhile: number[] = []) {
  const served: number[][] = []
  const naps = { count: 0 }
  const sleep = () => {
    naps.count += 1
    for (const item of meanwhile.splice(0)) arrivals.add(item)
  }
  const arrivals = new Arrivals<number>(
    (items) => served.push([...items]),
    () => connections,
    sleep,
  )
  /** So many come at once; returns how often it slept for them. */
  const come = async (count: number) => {
    const before = naps.count
    for (let item = 1; item <= count; item++) arrivals.add(item)
    await turn()
    await turn()
    return naps.count - before
  }
  return { served, come, meanwhile }
}

describe('requests that arrive', () => {
  it('in one turn of the event loop are served in one go, in order and once', async () => {
    const { served, come } = arrivalsOn(4)
    await come(4)
    await come(3)
    assert.deepEqual(served, [
      [1, 2, 3, 4],
      [1, 2, 3],
    ])
  })

  it('are served with those that come while it sleeps, where fewer have come than half of those who could', async () => {
    const { served, come } = arrivalsOn(8, [4, 5, 6])
    assert.equal(await come(3), 1)
    assert.deepEqual(served, [[1, 2, 3, 4, 5, 6]])
  })

  for (const { connections, count } of [
    { connections: 1, count: 1 },
    { connections: 2, count: 1 },
    { connections: 8, count: 4 },
    { connections: 1_000, count: 16 },
  ])
    it(`are not slept for where ${count} came on ${connections} connections`, async () => {
      const { come } = arrivalsOn(connections)
      assert.equal(await come(count), 0)
    })

  for (const { connections, count } of [
    { connections: 3, count: 1 },
    { connections: 1_000, count: 15 },
  ])
    it(`are slept for where ${count} came on ${connections} connections`, async () => {
      const { come } = arrivalsOn(connections)
      assert.equal(await come(count), 1)
    })

  it('are slept for again as long as at least as many come meanwhile', async () => {
    const { come, meanwhile } = arrivalsOn(100)
    for (let time = 0; time < 5; time++) {
      meanwhile.push(3, 4)
      assert.equal(await come(2), 1)
    }
  })

  it('are not slept for in ever more turns where fewer come meanwhile, but in 64 at most', async () => {
    const { come, meanwhile } = arrivalsOn(100)
    for (const unawaited of [1, 3, 7, 15, 31, 63, 64, 64]) {
      meanwhile.push(3)
      assert.equal(await come(2), 1)
      for (let time = 0; time < unawaited; time++) assert.equal(await come(2), 0)
    }
  })

  it('are slept for at once where it has paid again', async () => {
    const { come, meanwhile } = arrivalsOn(100)
    for (const unawaited of [1, 3]) {
      await come(1)
      for (let time = 0; time < unawaited; time++) await come(1)
    }
    meanwhile.push(2)
    assert.equal(await come(1), 1)
    assert.equal(await come(1), 1)
    assert.deepEqual([await come(1), await come(1)], [0, 1])
  })

  it('are slept for a tenth of a millisecond', async (t) => {
    const wait = t.mock.method(Atomics, 'wait')
    const served: number[][] = []
    const arrivals = new Arrivals<number>(
      (items) => served.push([...items]),
      () => 100,
    )
    arrivals.add(1)
    await turn()
    await turn()
    assert.deepEqual(
      wait.mock.calls.map(({ arguments: [, , , length], result }) => ({ length, result })),
      [{ length: 0.1, result: 'timed-out' }],
    )
    assert.deepEqual(served, [[1]])
  })
})
