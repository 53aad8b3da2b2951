import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { AuthFailures, RequestRates } from './rate-limits.ts'

const start = Date.UTC(2026, 0, 1)
const second = 1_000
const minute = 60 * second

function fail(failures: AuthFailures, address: string, times: number, now = start): number[] {
  return Array.from({ length: times }, () => failures.count(address, now))
}

describe('failed authentications from one address', () => {
  it('are waved through up to the limit, and told how long to wait beyond it', () => {
    const waits = fail(new AuthFailures(5), 'a', 7)
    assert.deepEqual(waits, [0, 0, 0, 0, 0, 60, 60])
  })

  it('tell less to wait the later they come, and never zero or a fraction', () => {
    const failures = new AuthFailures(1)
    fail(failures, 'a', 1)
    for (const [after, wait] of [
      [1, 60],
      [second, 59],
      [30_500, 30],
      [59 * second, 1],
      [minute - 1, 1],
    ] as const)
      assert.equal(failures.count('a', start + after), wait, `after ${after} ms`)
  })

  it('begin anew after a minute', () => {
    const failures = new AuthFailures(2)
    fail(failures, 'a', 5)
    assert.deepEqual(fail(failures, 'a', 3, start + minute), [0, 0, 60])
  })

  it('do not count against any other address', () => {
    const failures = new AuthFailures(2)
    fail(failures, 'a', 100)
    assert.deepEqual(fail(failures, 'b', 3), [0, 0, 60])
  })

  it('are not held against an address for longer than a minute when the clock goes back', () => {
    const failures = new AuthFailures(2)
    fail(failures, 'a', 5)
    const earlier = start - 24 * 60 * minute
    const [wait = 0] = fail(failures, 'a', 5, earlier).slice(-1)
    assert.ok(wait <= 60, `${wait} s`)
    assert.equal(failures.count('a', earlier + minute), 0)
  })

  it('stay counted during a flood from ever new addresses, whose number the memory survives', () => {
    const failures = new AuthFailures(2)
    fail(failures, 'a', 2)
    for (let i = 0; i < 150_000; i++) failures.count(`flood ${i}`, start)
    assert.equal(failures.count('a', start), 60)
  })
})

describe('requests with one API token', () => {
  it('may come in a burst of twice the limit, and then as fast as the limit', () => {
    const rates = new RequestRates(10)
    const passed = (now: number) => Array.from({ length: 50 }, () => rates.take(1, now)).filter(isPassed).length
    assert.equal(passed(start), 20)
    assert.equal(passed(start), 0)
    assert.equal(passed(start + second / 2), 5)
    assert.equal(passed(start + second / 2 + 100 * second), 20)
  })

  it('never exceed burst and rate in any span of time, however they are spread', () => {
    const gaps = fc.array(fc.oneof(fc.nat(3), fc.nat(400), fc.nat(5_000)), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), gaps, (perSecond, gaps) => {
        const rates = new RequestRates(perSecond)
        let now = start
        const passed: number[] = []
        for (const gap of gaps) {
          now += gap
          if (isPassed(rates.take(1, now))) passed.push(now)
        }
        for (const [first, from] of passed.entries())
          for (let last = first; last < passed.length; last++) {
            const allowed = perSecond * 2 + (((passed[last] ?? 0) - from) / second) * perSecond
            assert.ok(last - first + 1 <= allowed + 1e-6, `${last - first + 1} in ${(passed[last] ?? 0) - from} ms`)
          }
      }),
      { numRuns: 50 },
    )
  })

  it('pass after the wait they were told, whatever came before', () => {
    const gaps = fc.array(fc.nat(700), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), gaps, (perSecond, gaps) => {
        const rates = new RequestRates(perSecond)
        let now = start
        for (const gap of gaps) {
          now += gap
          const { retryAfter } = rates.take(1, now)
          if (retryAfter === 0) continue
          assert.ok(Number.isInteger(retryAfter))
          now += retryAfter * second
          assert.equal(rates.take(1, now).retryAfter, 0)
        }
      }),
    )
  })

  it('do not use up what another API token has', () => {
    const rates = new RequestRates(1)
    for (let i = 0; i < 10; i++) rates.take(1, start)
    assert.ok(isPassed(rates.take(2, start)))
    assert.ok(!isPassed(rates.take(1, start)))
  })

  it('gain and lose nothing by a clock that goes back', () => {
    const rates = new RequestRates(5)
    for (let i = 0; i < 10; i++) assert.ok(isPassed(rates.take(1, start)))
    assert.ok(!isPassed(rates.take(1, start - 100 * second)))
    const idle = new RequestRates(5)
    idle.take(1, start)
    assert.ok(isPassed(idle.take(1, start - 100 * second)))
  })

  it('are told the policy, what is left of it, and when there is more', () => {
    const rates = new RequestRates(2)
    assert.deepEqual(rates.take(1, start).headers, {
      'RateLimit-Policy': '"default";q=4;w=2',
      RateLimit: '"default";r=3;t=0',
    })
    for (let i = 0; i < 3; i++) rates.take(1, start)
    const { headers, retryAfter } = rates.take(1, start)
    assert.equal(headers.RateLimit, '"default";r=0;t=1')
    assert.equal(retryAfter, 1)
  })
})

function isPassed({ retryAfter }: { retryAfter: number }): boolean {
  return retryAfter === 0
}
