import { type Cipheriv, createCipheriv, timingSafeEqual } from 'node:crypto'
import { blockLength, Ghash } from './ghash.ts'
import { randomBytes } from './random.ts'

const nonceLength = 12
const tagLength = blockLength
const overhead = nonceLength + tagLength
const mostBytesOfCharacter = 3

interface Memory {
  bytes: Buffer
  view: DataView
}

/** Enough for every token; what is longer gets memory of its own. */
const shared = memory(1024)

/**
 * AES-256-GCM (NIST SP 800-38D) under one key. Node has it too, and the tests hold the two against each other; but Node
 * makes an object for every value, with a state outside V8's heap, which costs a look-up a tenth. The mode is only this:
 * AES turns a counter into as many random bytes as the text is long, and one block more that hides the hash. AES itself
 * is Node's, without a mode ("ECB") so that one object serves all values. For more than a kilobyte Node's is faster.
 */
export class Gcm {
  readonly #aes: Cipheriv
  readonly #ghash: Ghash

  constructor(key: Uint8Array) {
    this.#aes = createCipheriv('aes-256-ecb', key, null)
    this.#ghash = new Ghash(this.#aes.update(Buffer.alloc(blockLength)))
  }

  /** Nonce, text and tag. */
  seal(plain: Uint8Array, context: string): Buffer {
    const nonce = randomBytes(nonceLength)
    const stream = this.#stream(nonce, plain.length)
    const text = stream.subarray(blockLength, blockLength + plain.length)
    mix(text, plain)
    return Buffer.concat([nonce, text, this.#tag(text, context, stream)])
  }

  /** Undefined unless it was sealed like this, by this key and in this context. */
  open(sealed: Uint8Array, context: string): Buffer | undefined {
    if (sealed.length < overhead) return undefined
    const end = sealed.length - tagLength
    const text = sealed.subarray(nonceLength, end)
    const stream = this.#stream(sealed, text.length)
    if (!timingSafeEqual(this.#tag(text, context, stream), sealed.subarray(end))) return undefined
    const plain = stream.subarray(blockLength, blockLength + text.length)
    mix(plain, text)
    return plain
  }

  /** A block that hides the hash, and what the text is mixed with. */
  #stream(nonce: Uint8Array, length: number): Buffer {
    const end = blockLength + roundedUp(length)
    const { bytes, view } = memoryOf(end)
    for (let at = 0, counter = 1; at < end; at += blockLength, counter++) {
      for (let byte = 0; byte < nonceLength; byte++) bytes[at + byte] = nonce[byte] ?? 0
      view.setUint32(at + nonceLength, counter)
    }
    return this.#aes.update(bytes.subarray(0, end))
  }

  /** In memory that the next one takes. */
  #tag(text: Uint8Array, context: string, hiding: Uint8Array): Uint8Array {
    const { bytes, view } = memoryOf(context.length * mostBytesOfCharacter + text.length + 3 * blockLength)
    const contextLength = bytes.write(context)
    const textAt = roundedUp(contextLength)
    const lengthsAt = textAt + roundedUp(text.length)
    const end = lengthsAt + blockLength
    bytes.fill(0, contextLength, end)
    bytes.set(text, textAt)
    view.setUint32(lengthsAt + 4, contextLength * 8)
    view.setUint32(lengthsAt + 12, text.length * 8)
    this.#ghash.digest(view, end)
    const tag = bytes.subarray(0, tagLength)
    mix(tag, hiding)
    return tag
  }
}

function memoryOf(length: number): Memory {
  return length <= shared.bytes.length ? shared : memory(length)
}

function memory(length: number): Memory {
  const bytes = Buffer.alloc(length)
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, length) }
}

function mix(into: Uint8Array, other: Uint8Array): void {
  for (let at = 0; at < into.length; at++) into[at] = (into[at] ?? 0) ^ (other[at] ?? 0)
}

function roundedUp(length: number): number {
  return Math.ceil(length / blockLength) * blockLength
}
