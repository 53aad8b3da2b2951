import { hkdfSync } from 'node:crypto'
import { Gcm } from './gcm.ts'

export interface Sealed {
  /** Which master key sealed it. */
  keyId: string
  /** Nonce, ciphertext, tag. */
  bytes: Uint8Array
}

interface MasterKey {
  id: string
  gcm: Gcm
}

/** The master keys an operator configured, newest first: the newest seals, all of them open. */
export class KeyRing {
  readonly #keys: Map<string, MasterKey>
  readonly #newest: MasterKey

  constructor(masters: readonly Uint8Array[]) {
    const keys = masters.map(deriveKey)
    const [newest] = keys
    if (newest === undefined) throw new Error('a key ring needs at least one master key')
    this.#newest = newest
    this.#keys = new Map(keys.map((key) => [key.id, key]))
  }

  get newestId(): string {
    return this.#newest.id
  }

  get ids(): string[] {
    return [...this.#keys.keys()]
  }

  has(keyId: string): boolean {
    return this.#keys.has(keyId)
  }

  /** `context` names the row the value belongs to; the value opens with the same context only. */
  seal(plain: Uint8Array, context: string): Sealed {
    return { keyId: this.#newest.id, bytes: this.#newest.gcm.seal(plain, context) }
  }

  open(sealed: Sealed, context: string): Buffer {
    const key = this.#keys.get(sealed.keyId)
    if (key === undefined) throw new MissingMasterKey(`master key ${sealed.keyId} is not in the key ring`)
    const plain = key.gcm.open(sealed.bytes, context)
    if (plain === undefined) throw new SealError('the sealed value was cut, changed, moved or sealed by another key')
    return plain
  }
}

/** A stored value that does not open: never the caller's fault. */
export class SealError extends Error {
  override readonly name: string = 'SealError'
}

export class MissingMasterKey extends SealError {
  override readonly name = 'MissingMasterKey'
}

function deriveKey(master: Uint8Array): MasterKey {
  return {
    id: Buffer.from(derive(master, 'key id', 4)).toString('hex'),
    gcm: new Gcm(derive(master, 'sealing', 32)),
  }
}

function derive(master: Uint8Array, purpose: string, length: number): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', master, '', `user-group-service ${purpose}`, length))
}
