import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { randomBytes } from './random.ts'

describe('random bytes', () => {
  it('come in the number asked for, and never twice, across many fillings', () => {
    const seen = new Set<string>()
    for (let draw = 0; draw < 20_000; draw++) {
      const bytes = randomBytes(8 + (draw % 57))
      assert.equal(bytes.length, 8 + (draw % 57))
      seen.add(bytes.toString('latin1', 0, 8))
    }
    assert.equal(seen.size, 20_000)
  })

  it("are the caller's own: what is drawn next changes nothing of them", () => {
    const bytes = randomBytes(16)
    const before = Buffer.from(bytes)
    for (let draw = 0; draw < 1_000; draw++) randomBytes(16)
    assert.deepEqual(bytes, before)
  })
})
