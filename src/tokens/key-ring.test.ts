import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { KeyRing, SealError, type Sealed } from './key-ring.ts'

const context = 'user_group.token team=1 group=2'
const secret = Buffer.from('ugt_0123456789')

function newRing(): KeyRing {
  return new KeyRing([randomBytes(32)])
}

function refuses(ring: KeyRing, sealed: Sealed, where = context, why?: string): void {
  assert.throws(() => ring.open(sealed, where), SealError, why)
}

describe('a sealed value', () => {
  it('opens to what was sealed, whatever it was', () => {
    const ring = newRing()
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'grapheme' }), (plain, where) => {
        assert.deepEqual(new Uint8Array(ring.open(ring.seal(plain, where), where)), plain)
      }),
    )
  })

  it('is refused with any one of its bits flipped', () => {
    const ring = newRing()
    const { keyId, bytes } = ring.seal(secret, context)
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Uint8Array.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      refuses(ring, { keyId, bytes: changed }, context, `bit ${bit} of ${bytes.length * 8}`)
    }
    assert.deepEqual(ring.open({ keyId, bytes }, context), secret)
  })

  it('is refused when cut short anywhere, at either end, or made longer', () => {
    const ring = newRing()
    const { keyId, bytes } = ring.seal(secret, context)
    for (let length = 0; length < bytes.length; length++) {
      refuses(ring, { keyId, bytes: bytes.subarray(0, length) }, context, `the first ${length} bytes`)
      refuses(ring, { keyId, bytes: bytes.subarray(bytes.length - length) }, context, `the last ${length} bytes`)
    }
    refuses(ring, { keyId, bytes: Buffer.concat([bytes, Buffer.alloc(1)]) })
    refuses(ring, { keyId, bytes: Buffer.concat([bytes, bytes]) })
  })

  it('is refused in any other context', () => {
    const ring = newRing()
    const sealed = ring.seal(secret, context)
    for (const other of ['', `${context} `, context.replace('1', '2'), context.replace('user_group', 'api_token')])
      refuses(ring, sealed, other, other)
  })

  it('differs from every other seal of the same text, and shows nothing of it', () => {
    const ring = newRing()
    const seals = Array.from({ length: 1_000 }, () => Buffer.from(ring.seal(secret, context).bytes))
    assert.equal(new Set(seals.map((bytes) => bytes.toString('hex'))).size, seals.length)
    assert.equal(new Set(seals.map((bytes) => bytes.toString('hex', 0, 12))).size, seals.length)
    assert.ok(seals.every((bytes) => !bytes.includes(secret) && bytes.length === 12 + secret.length + 16))
  })
})

describe('a key ring', () => {
  it('opens what its older keys sealed, and seals with the newest', () => {
    const [old, middle, newest] = [randomBytes(32), randomBytes(32), randomBytes(32)]
    const sealed = new KeyRing([old]).seal(secret, context)
    const ring = new KeyRing([newest, middle, old])
    assert.deepEqual(ring.open(sealed, context), secret)
    assert.equal(ring.seal(secret, context).keyId, new KeyRing([newest]).newestId)
    assert.deepEqual(new KeyRing([newest]).open(ring.seal(secret, context), context), secret)
    assert.deepEqual(
      ring.ids,
      [newest, middle, old].map((key) => new KeyRing([key]).newestId),
    )
  })

  it('refuses what a key sealed that is no longer in it, and names the key', () => {
    const removed = newRing()
    const sealed = removed.seal(secret, context)
    const ring = newRing()
    assert.throws(() => ring.open(sealed, context), { name: 'MissingMasterKey', message: new RegExp(removed.newestId) })
    assert.equal(ring.has(removed.newestId), false)
    assert.equal(ring.has(ring.newestId), true)
  })

  it('refuses a value under the name of another of its keys', () => {
    const [old, newest] = [randomBytes(32), randomBytes(32)]
    const ring = new KeyRing([newest, old])
    const { bytes } = new KeyRing([old]).seal(secret, context)
    refuses(ring, { keyId: ring.newestId, bytes })
  })

  it('gives a master key the same id for ever: it is stored beside every seal', () => {
    assert.equal(new KeyRing([Buffer.alloc(32, 7)]).newestId, 'dbbd9560')
    const ids = Array.from({ length: 100 }, () => newRing().newestId)
    assert.equal(new Set(ids).size, ids.length)
  })

  it('cannot be empty', () => {
    assert.throws(() => new KeyRing([]), { message: 'a key ring needs at least one master key' })
  })
})
