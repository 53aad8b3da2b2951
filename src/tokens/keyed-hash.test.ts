import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { keyedHash } from './keyed-hash.ts'

const key = randomBytes(32)
const hashed = keyedHash(key)

function expected(text: string): string {
  return createHmac('sha256', key).update(text).digest('hex')
}

function actual(text: string): string {
  return Buffer.from(hashed(text)).toString('hex')
}

describe('a keyed hash', () => {
  it('is the HMAC that Node makes, of any text after any other', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 400 })
    fc.assert(fc.property(texts, (text) => assert.equal(actual(text), expected(text))))
  })

  it('is that of every length, also where a text no longer has room with the others', () => {
    for (const character of ['a', 'ä', '語', '\ud800', '😀'])
      for (const length of [0, 1, 63, 64, 255, 341, 342, 1024, 1025, 5000]) {
        const text = character.repeat(length)
        assert.equal(actual(text), expected(text), `${length} × ${character}`)
      }
  })

  it('stays as it is when others are made', () => {
    const first = hashed('first')
    hashed('second')
    assert.equal(Buffer.from(first).toString('hex'), expected('first'))
  })

  it('takes a key of one block at most', () => {
    assert.throws(() => keyedHash(new Uint8Array(65)), /longer than a block/)
    assert.doesNotThrow(() => keyedHash(new Uint8Array(64)))
  })
})
