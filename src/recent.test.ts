import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Recent } from './recent.ts'

describe('what was asked for lately', () => {
  it('is bounded: what nobody asks for again goes first', () => {
    const recent = new Recent<number>(12_000)
    for (let entry = 0; entry < 400_000; entry++) recent.offer(entry, () => entry)
    const kept = Array.from({ length: 400_000 }, (_, entry) => entry).filter((entry) => recent.get(entry) !== undefined)
    assert.ok(kept.length > 10_000 && kept.length <= 24_000, `${kept.length} are kept`)
    assert.equal(recent.get(0), undefined)
  })

  it('keeps what is asked for often, among any number of those asked for once', () => {
    const recent = new Recent<number>(12_000)
    let missed = 0
    for (let other = 1; other < 400_000; other++) {
      recent.offer(other, () => other)
      if (other % 100 !== 0 || recent.get(0) !== undefined) continue
      missed += 1
      recent.offer(0, () => 0)
    }
    assert.ok(missed < 100, `${missed} of 4000 times it was not there`)
  })

  it('holds all of few', () => {
    const recent = new Recent<number>(12_000)
    for (let entry = 0; entry < 10_000; entry++) recent.offer(entry, () => entry)
    for (let entry = 0; entry < 10_000; entry++) assert.equal(recent.get(entry), entry)
  })
})
