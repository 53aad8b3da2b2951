import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Recent } from './recent.ts'

describe('what was asked for lately', () => {
  it('is bounded: what nobody asks for again goes first', () => {
    const recent = new Recent<number>(12_000)
    for (let entry = 0; entry < 400_000; entry++) ask(recent, entry, 2)
    const kept = Array.from({ length: 400_000 }, (_, entry) => entry).filter((entry) => recent.get(entry) !== undefined)
    assert.ok(kept.length > 10_000 && kept.length <= 24_000, `${kept.length} are kept`)
    assert.equal(recent.get(0), undefined)
  })

  it('keeps what is asked for often, among any number of those asked for once', () => {
    const recent = new Recent<number>(12_000)
    let missed = 0
    for (let other = 1; other < 400_000; other++) {
      ask(recent, other)
      if (other % 100 === 0) missed += ask(recent, 0)
    }
    assert.ok(missed < 100, `${missed} of 4000 times it was not there`)
  })

  it('pushes nothing out for what is asked for once, and makes none of it', () => {
    const recent = new Recent<number>(12_000)
    for (let entry = 0; entry < 15_000; entry++) ask(recent, entry, 2)
    let made = 0
    for (let other = 1_000_000; other < 1_400_000; other++) recent.offer(other, () => made++)
    assert.equal(made, 0)
    for (let entry = 5_000; entry < 15_000; entry++) assert.equal(recent.get(entry), entry)
  })

  it('takes no more room for what is kept anew', () => {
    const recent = new Recent<number>(2_000)
    for (let time = 0; time < 3; time++) for (let entry = 0; entry < 1_000; entry++) recent.offer(entry, () => time)
    for (let entry = 0; entry < 1_000; entry++) assert.equal(recent.get(entry), 2)
  })

  it('holds all of few', () => {
    const recent = new Recent<number>(12_000)
    for (let entry = 0; entry < 10_000; entry++) ask(recent, entry)
    for (let entry = 0; entry < 10_000; entry++) assert.equal(recent.get(entry), entry)
  })
})

/** As those do who keep something there; tells how often it was not there. */
function ask(recent: Recent<number>, key: number, times = 1): number {
  let missed = 0
  for (let time = 0; time < times; time++) {
    if (recent.get(key) !== undefined) continue
    missed += 1
    recent.offer(key, () => key)
  }
  return missed
}
