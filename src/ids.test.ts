import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'

/** The ids of a process that has made none yet. */
let processes = 0
async function freshProcess(): Promise<(now: number) => number> {
  processes += 1
  const ids: typeof import('./ids.ts') = await import(`./ids.ts?process=${processes}`)
  return ids.newId
}

const now = Date.UTC(2026, 6, 1)

describe('a new id', () => {
  it('is greater than every one before, a burst within one millisecond included', async () => {
    const newId = await freshProcess()
    let last = 0
    for (let i = 0; i < 100_000; i++) {
      const id = newId(now + Math.floor(i / 10_000))
      assert.ok(id > last, `${id} after ${last}`)
      last = id
    }
  })

  it('is still greater, and new, when the clock goes back', async () => {
    const steps = fc.array(fc.integer({ min: -86_400_000, max: 86_400_000 }), { minLength: 1, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        const newId = await freshProcess()
        const ids = steps.map((step) => newId(now + step))
        assert.equal(new Set(ids).size, ids.length)
        assert.deepEqual(
          ids,
          ids.toSorted((a, b) => a - b),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('is a positive whole number even where the clock was never set', async () => {
    const newId = await freshProcess()
    for (const time of [0, -1, Date.UTC(2023, 0, 1), Date.UTC(2024, 0, 1)]) {
      const id = newId(time)
      assert.ok(Number.isSafeInteger(id) && id > 0, `${id} at ${time}`)
    }
  })

  it('sorts by age across processes, to the millisecond', async () => {
    const [one, other] = [await freshProcess(), await freshProcess()]
    for (let time = now; time < now + 1_000; time += 2) assert.ok(one(time) < other(time + 1), `at ${time}`)
    for (let time = now + 2_000; time < now + 3_000; time += 2) assert.ok(other(time) < one(time + 1), `at ${time}`)
  })

  it('rarely meets the one another process makes in the same millisecond', async () => {
    const processes = await Promise.all(Array.from({ length: 20 }, freshProcess))
    const ids = processes.map((newId) => newId(now))
    assert.ok(new Set(ids).size > 15, `${new Set(ids).size} of 20 differ`)
  })

  it('is held exactly by a number until the year 2163', async () => {
    const newId = await freshProcess()
    const lastMoment = Date.UTC(2163, 0, 1) - 1
    for (let i = 0; i < 10_000; i++) assert.ok(newId(lastMoment) < 2 ** 53)
  })
})
