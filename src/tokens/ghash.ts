export const blockLength = 16
const nibblesOfBlock = 32
const valuesOfNibble = 16
const wordsOfBlock = 4
/** What x^128 is in the field, in the order of bits that GCM has: the first is the lowest power. */
const reduction = 0xe1000000

type Block = readonly [number, number, number, number]

const sum = new Int32Array(wordsOfBlock)
/** What the first word gains when these bits are pushed out of the last. */
const reductions = Int32Array.from({ length: valuesOfNibble }, (_, bits) => timesX(4, [0, 0, 0, bits])[0])

/**
 * The hash in GCM (NIST SP 800-38D, 6.4): each block is added to what the ones before came to, and the sum multiplied by
 * the key, in a field of 2^128 elements. It is multiplied nibble by nibble, by Shoup's method, as OpenSSL does where the
 * processor has no instruction for it: what is looked up depends on the key, see docs/security-review.md, 11.2.4.
 */
export class Ghash {
  /** The key times every value of a nibble. */
  readonly #products: Int32Array

  constructor(key: Buffer) {
    this.#products = productsOf([key.readInt32BE(0), key.readInt32BE(4), key.readInt32BE(8), key.readInt32BE(12)])
  }

  /** Hashes whole blocks, up to `end`, and leaves the hash in the place of the first. */
  digest(data: DataView, end: number): void {
    const products = this.#products
    let [a, b, c, d] = [0, 0, 0, 0]
    for (let at = 0; at < end; at += blockLength) {
      sum[0] = a ^ data.getInt32(at)
      sum[1] = b ^ data.getInt32(at + 4)
      sum[2] = c ^ data.getInt32(at + 8)
      sum[3] = d ^ data.getInt32(at + 12)
      a = b = c = d = 0
      for (let nibble = nibblesOfBlock - 1; nibble >= 0; nibble--) {
        const value = ((sum[nibble >>> 3] ?? 0) >>> (28 - 4 * (nibble & 7))) & 15
        const found = value * wordsOfBlock
        const pushedOut = d & 15
        d = ((d >>> 4) | (c << 28)) ^ (products[found + 3] ?? 0)
        c = ((c >>> 4) | (b << 28)) ^ (products[found + 2] ?? 0)
        b = ((b >>> 4) | (a << 28)) ^ (products[found + 1] ?? 0)
        a = (a >>> 4) ^ (reductions[pushedOut] ?? 0) ^ (products[found] ?? 0)
      }
    }
    data.setInt32(0, a)
    data.setInt32(4, b)
    data.setInt32(8, c)
    data.setInt32(12, d)
  }
}

function productsOf(key: Block): Int32Array {
  const products = new Int32Array(valuesOfNibble * wordsOfBlock)
  for (let value = 0; value < valuesOfNibble; value++)
    for (let power = 0; power < 4; power++)
      if (value & (8 >>> power))
        for (const [word, bits] of timesX(power, key).entries()) {
          const at = value * wordsOfBlock + word
          products[at] = (products[at] ?? 0) ^ bits
        }
  return products
}

function timesX(power: number, [a, b, c, d]: Block): Block {
  if (power === 0) return [a, b, c, d]
  const first = (a >>> 1) ^ (d & 1 ? reduction : 0)
  return timesX(power - 1, [first, (b >>> 1) | (a << 31), (c >>> 1) | (b << 31), (d >>> 1) | (c << 31)])
}
