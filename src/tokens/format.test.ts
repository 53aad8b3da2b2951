import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { base62, chiSquare } from '../../test/support/chi-square.ts'
import { hasRightChecksum, mintId, mintToken, tokenPattern, visibleAscii } from './format.ts'

const prefixes = ['ugt_', 'uga_'] as const

for (const prefix of prefixes)
  describe(`a minted ${prefix}… token`, () => {
    it('is the prefix, 32 random and 6 checksum characters, all letters and digits', () => {
      const token = mintToken(prefix)
      assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{38}$`))
      assert.match(`leaked: ${token}.`, tokenPattern)
      assert.ok(hasRightChecksum(token, prefix))
      assert.ok(visibleAscii.test(token))
    })

    it('is refused with any single character changed to any other', () => {
      for (const token of Array.from({ length: 5 }, () => mintToken(prefix)))
        for (let place = 0; place < token.length; place++)
          for (const other of `${base62}_-é€ `) {
            if (other === token[place]) continue
            const changed = token.slice(0, place) + other + token.slice(place + 1)
            assert.equal(hasRightChecksum(changed, prefix), false, `${token} → ${changed}`)
          }
    })

    it('is refused with a character dropped, doubled or swapped with its neighbour', () => {
      const token = mintToken(prefix)
      for (let place = 0; place < token.length - 1; place++) {
        const [before, one, two, after] = [
          token.slice(0, place),
          token[place],
          token[place + 1],
          token.slice(place + 2),
        ]
        const spoilt = [before + two + after, before + one + one + two + after]
        if (one !== two) spoilt.push(before + two + one + after)
        for (const changed of spoilt) assert.equal(hasRightChecksum(changed, prefix), false, `${token} → ${changed}`)
      }
    })

    it('does not pass for a token of the other kind', () => {
      const other = prefix === 'ugt_' ? 'uga_' : 'ugt_'
      const token = mintToken(prefix)
      assert.equal(hasRightChecksum(other + token.slice(4), other), false)
    })
  })

describe('the random part of a token', () => {
  it('is never the same twice', () => {
    const minted = Array.from({ length: 10_000 }, () => mintToken('ugt_'))
    assert.equal(new Set(minted).size, minted.length)
  })

  it('uses every character equally often, at every place', () => {
    const secrets = Array.from({ length: 6_000 }, () => [...mintToken('ugt_').slice(4, 36)])
    // With 61 degrees of freedom, 160 is exceeded by chance once in 10^10 runs.
    assert.ok(chiSquare(secrets.flat()) < 160, `all places: ${chiSquare(secrets.flat())}`)
    for (let place = 0; place < 32; place++) {
      const distance = chiSquare(secrets.map((secret) => secret[place] ?? ''))
      assert.ok(distance < 160, `place ${place}: ${distance}`)
    }
  })
})

describe('an id that nobody chose', () => {
  it('is its prefix and 20 letters and digits, never the same twice', () => {
    const ids = Array.from({ length: 100 }, () => mintId('ds_'))
    for (const id of ids) assert.match(id, /^ds_[0-9A-Za-z]{20}$/)
    assert.equal(new Set(ids).size, ids.length)
  })
})

describe('a token from elsewhere', () => {
  it('is 16 to 255 visible ASCII characters, and nothing else', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 16,
      maxLength: 255,
    })
    fc.assert(fc.property(visible, (token) => assert.ok(visibleAscii.test(token))))
    fc.assert(
      fc.property(
        visible,
        fc.nat(),
        fc.constantFrom(' ', '\t', '\n', '\0', '\x7f', 'é', '\ud800'),
        (token, at, bad) => {
          const place = at % (token.length + 1)
          assert.equal(visibleAscii.test(token.slice(0, place) + bad + token.slice(place)), false)
        },
      ),
    )
    for (const [length, allowed] of [
      [0, false],
      [15, false],
      [16, true],
      [255, true],
      [256, false],
    ] as const)
      assert.equal(visibleAscii.test('x'.repeat(length)), allowed, `${length} characters`)
  })
})
