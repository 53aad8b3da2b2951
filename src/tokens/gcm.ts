import { type Cipheriv, createCipheriv, timingSafeEqual } from 'node:crypto'
import { blockLength, Ghash } from './ghash.ts'
import { randomBytes } from './random.ts'

const nonceLength = 12
const tagLength = blockLength
const overhead = nonceLength + tagLength
const mostBytesOfCharacter = 3
/** Of a token that was minted here, in whole blocks. */
const tokenLength = 3 * blockLength
const preparedAtOnce = 16

interface Memory {
  bytes: Buffer
  view: DataView
}

/** Enough for every token, and for those that are prepared at once; what is longer gets memory of its own. */
const shared = memory(1024)

/** What one text is sealed with, and no other ever. */
interface Fresh {
  nonce: Uint8Array
  stream: Uint8Array
}

/**
 * AES-256-GCM (NIST SP 800-38D) under one key. Node has it too, and the tests hold the two against each other; but Node
 * makes an object for every value, with a state outside V8's heap, which costs a look-up a tenth. The mode is only this:
 * AES turns a counter into as many random bytes as the text is long, and one block more that hides the hash. AES itself
 * is Node's, without a mode ("ECB") so that one object serves all values. For more than a kilobyte Node's is faster.
 */
export class Gcm {
  readonly #aes: Cipheriv
  readonly #ghash: Ghash
  /** For tokens to come: every call of AES makes a buffer, which takes longer than its work, so one call prepares many. */
  readonly #prepared: Fresh[] = []

  constructor(key: Uint8Array) {
    this.#aes = createCipheriv('aes-256-ecb', key, null)
    this.#ghash = new Ghash(this.#aes.update(Buffer.alloc(blockLength)))
  }

  /** Nonce, text and tag. */
  seal(plain: Uint8Array, context: string): Buffer {
    const { nonce, stream } = this.#fresh(plain.length)
    const text = stream.subarray(blockLength, blockLength + plain.length)
    mix(text, plain)
    return Buffer.concat([nonce, text, this.#tag(text, context, stream)])
  }

  /** Undefined unless it was sealed like this, by this key and in this context. */
  open(sealed: Uint8Array, context: string): Buffer | undefined {
    if (sealed.length < overhead) return undefined
    const end = sealed.length - tagLength
    const text = sealed.subarray(nonceLength, end)
    const stream = this.#streams(sealed, 1, text.length)
    if (!timingSafeEqual(this.#tag(text, context, stream), sealed.subarray(end))) return undefined
    const plain = stream.subarray(blockLength, blockLength + text.length)
    mix(plain, text)
    return plain
  }

  #fresh(length: number): Fresh {
    if (length > tokenLength) return this.#draw(1, length)
    return this.#prepared.pop() ?? this.#draw(preparedAtOnce, tokenLength)
  }

  /** As many as told, of which all but the one it gives are kept for later. */
  #draw(count: number, length: number): Fresh {
    const nonces = randomBytes(count * nonceLength)
    const streams = this.#streams(nonces, count, length)
    const drawn = (index: number) => ({ nonce: part(nonces, index, count), stream: part(streams, index, count) })
    for (let index = 1; index < count; index++) this.#prepared.push(drawn(index))
    return drawn(0)
  }

  /** For each nonce a block that hides the hash, and what a text of this length is mixed with. */
  #streams(nonces: Uint8Array, count: number, length: number): Buffer {
    const lengthOfOne = blockLength + roundedUp(length)
    const { bytes, view } = memoryOf(count * lengthOfOne)
    for (let nonce = 0, at = 0; nonce < count; nonce++)
      for (let counter = 1; at < (nonce + 1) * lengthOfOne; at += blockLength, counter++) {
        for (let byte = 0; byte < nonceLength; byte++) bytes[at + byte] = nonces[nonce * nonceLength + byte] ?? 0
        view.setUint32(at + nonceLength, counter)
      }
    return this.#aes.update(bytes.subarray(0, count * lengthOfOne))
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

/** One of so many that are equally long. */
function part(bytes: Uint8Array, index: number, count: number): Uint8Array {
  const length = bytes.length / count
  return bytes.subarray(index * length, (index + 1) * length)
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
