import assert from 'node:assert/strict'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Gcm } from './gcm.ts'
import { Ghash } from './ghash.ts'

const nonceLength = 12
const tagLength = 16

function sealByNode(key: Uint8Array, plain: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
  cipher.setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function openByNode(key: Uint8Array, sealed: Buffer, context: string): Buffer {
  const [nonce, end] = [sealed.subarray(0, nonceLength), sealed.length - tagLength]
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength })
  cipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(end))
  return Buffer.concat([cipher.update(sealed.subarray(nonceLength, end)), cipher.final()])
}

/** Told apart in no time, however long they are. */
const hexOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** Lengths on both sides of each block's end, and of the memory that is kept for short ones. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 100 }),
  fc.uint8Array({ minLength: 900, maxLength: 1100, size: 'max' }),
)
const contexts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 100 }),
  fc.string({ unit: 'grapheme', minLength: 300, maxLength: 1100, size: 'max' }),
)
const keys = fc.uint8Array({ minLength: 32, maxLength: 32 })

describe('AES-256-GCM', () => {
  it("opens the examples of GCM's authors", () => {
    const key = hex('feffe9928665731c6d6a8f9467308308'.repeat(2))
    const examples = [
      { key: Buffer.alloc(32), nonce: '00'.repeat(12), plain: '', text: '', tag: '530f8afbc74536b9a963b4f1c4cb738b' },
      {
        key: Buffer.alloc(32),
        nonce: '00'.repeat(12),
        plain: '00'.repeat(16),
        text: 'cea7403d4d606b6e074ec5d3baf39d18',
        tag: 'd0d1c8a799996bf0265b98b5d48ab919',
      },
      {
        key,
        nonce: 'cafebabefacedbaddecaf888',
        plain:
          'd9313225f88406e5a55909c5aff5269a 86a7a9531534f7da2e4c303d8a318a72 ' +
          '1c3c0c95956809532fcf0e2449a6b525 b16aedf5aa0de657ba637b391aafd255',
        text:
          '522dc1f099567d07f47f37a32a84427d 643a8cdcbfe5c0c97598a2bd2555d1aa ' +
          '8cb08e48590dbb3da7b08b1056828838 c5f61e6393ba7a0abcc9f662898015ad',
        tag: 'b094dac5d93471bdec1a502270e3cc6c',
      },
    ]
    for (const { key, nonce, plain, text, tag } of examples)
      assert.deepEqual(new Gcm(key).open(hex(nonce + text + tag), ''), hex(plain))
  })

  it('seals what Node opens, and opens what Node seals, and leaves alone what it was given', () => {
    fc.assert(
      fc.property(keys, bytes, contexts, (key, plain, context) => {
        const [gcm, given] = [new Gcm(key), hexOf(plain)]
        const sealed = gcm.seal(plain, context)
        assert.equal(sealed.length, nonceLength + plain.length + tagLength)
        assert.equal(hexOf(openByNode(key, sealed, context)), given)
        const byNode = sealByNode(key, plain, context)
        const before = hexOf(byNode)
        assert.equal(hexOf(gcm.open(byNode, context)), given)
        assert.deepEqual([hexOf(plain), hexOf(byNode)], [given, before])
      }),
    )
  })

  it('does so with long texts and several keys, one after the other', () => {
    const rings = [1, 2].map((byte) => new Uint8Array(32).fill(byte)).map((key) => ({ key, gcm: new Gcm(key) }))
    for (const length of [4_064, 4_096, 8_192, 65_536])
      for (const { key, gcm } of rings) {
        const plain = randomBytes(length)
        assert.ok(openByNode(key, gcm.seal(plain, 'long'), 'long').equals(plain), `sealed: ${length}`)
        assert.ok(gcm.open(sealByNode(key, plain, 'long'), 'long')?.equals(plain), `opened: ${length}`)
      }
  })

  it('opens nothing that Node would refuse: a bit flipped anywhere, a part, or another context', () => {
    fc.assert(
      fc.property(keys, bytes, contexts, fc.nat(), contexts, (key, plain, context, at, other) => {
        const gcm = new Gcm(key)
        const sealed = sealByNode(key, plain, context)
        const changed = Buffer.from(sealed)
        const bit = at % (8 * sealed.length)
        changed[bit >>> 3] = (changed[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
        assert.equal(gcm.open(changed, context), undefined)
        assert.equal(gcm.open(sealed.subarray(0, bit >>> 3), context), undefined)
        if (other !== context) assert.equal(gcm.open(sealed, other), undefined)
        assert.equal(hexOf(gcm.open(sealed, context)), hexOf(plain))
      }),
    )
  })

  it('never seals two texts with the same bytes of AES, however many it prepares, short ones and long ones by turns', () => {
    const gcm = new Gcm(randomBytes(32))
    const seals = Array.from({ length: 2_000 }, (_, index) => gcm.seal(Buffer.alloc(40 + (index % 17)), ''))
    assert.equal(new Set(seals.map((sealed) => sealed.toString('hex', 0, nonceLength))).size, seals.length)
    // Zeros are sealed as what they are mixed with.
    assert.equal(new Set(seals.map((sealed) => sealed.toString('hex', nonceLength, 40))).size, seals.length)
  })

  it('gives what stays as it is, whatever is sealed and opened afterwards', () => {
    const gcm = new Gcm(randomBytes(32))
    const secrets = Array.from({ length: 100 }, () => randomBytes(42))
    const sealed = secrets.map((secret, index) => gcm.seal(secret, `of ${index}`))
    const opened = sealed.map((bytes, index) => gcm.open(bytes, `of ${index}`))
    assert.deepEqual(opened, secrets)
  })
})

describe('its hash', () => {
  it("is that of the authors' example", () => {
    const data = hex('0388dace60b6a392f328c2b971b2fe78 00000000000000000000000000000080')
    const view = new DataView(data.buffer, data.byteOffset, data.length)
    new Ghash(hex('66e94bd4ef8a2c3b884cfa59ca342b2e')).digest(view, data.length)
    assert.equal(data.toString('hex', 0, 16), 'f38cbb1ad69223dcc3457ae5b6b0f885')
  })
})
