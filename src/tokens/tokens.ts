import { quickHash } from '../quick-hash.ts'
import { Recent } from '../recent.ts'
import { hasRightChecksum, mintToken, visibleAscii } from './format.ts'
import type { KeyRing, Sealed } from './key-ring.ts'
import { keyedHash } from './keyed-hash.ts'

export interface SealedToken extends Sealed {
  /** Finds the token without revealing it. */
  hash: Uint8Array
}

/** What is stored sealed. */
export const sealPurposes = ['user_group.token', 'data_source.connection'] as const
export type SealPurpose = (typeof sealPurposes)[number]

/** The row a sealed value belongs to: it opens nowhere else. */
export interface Place {
  purpose: SealPurpose
  teamId: number
  id: number | string
}

/** All that is done with secrets: made here, sealed here, opened here. */
export class Tokens {
  readonly #ring: KeyRing
  /** Finds a token without revealing it. */
  readonly hash: (token: string) => Uint8Array
  readonly #hashed = new Recent<{ token: string; hash: Uint8Array }>(12_000)
  /** What was opened, by the id of its group: the same bytes in the same place open to the same token. */
  readonly #opened = new Recent<{ teamId: number; sealed: string; plain: string }>(12_000)

  constructor(ring: KeyRing, lookupKey: Uint8Array) {
    this.#ring = ring
    this.hash = keyedHash(lookupKey)
  }

  mintForUserGroup(): string {
    return mintToken('ugt_')
  }

  mintForApi(): string {
    return mintToken('uga_')
  }

  /** The hash a user group token is found by; undefined for what cannot be one. */
  lookup(token: string): Uint8Array | undefined {
    const isPlausible = token.startsWith('ugt_') ? hasRightChecksum(token, 'ugt_') : visibleAscii.test(token)
    return isPlausible ? this.hash(token) : undefined
  }

  /** The same for one that is shown again and again. */
  recallLookup(token: string): Uint8Array | undefined {
    const key = quickHash(token)
    const known = this.#hashed.get(key)
    if (known?.token === token) return known.hash
    const hash = this.lookup(token)
    if (hash !== undefined) this.#hashed.offer(key, () => ({ token, hash }))
    return hash
  }

  /** The same for an API token. Its checksum is not looked at: an operator may have chosen it, with our prefix even. */
  lookupApiToken(token: string): Uint8Array | undefined {
    return visibleAscii.test(token) ? this.hash(token) : undefined
  }

  sealToken(token: string, teamId: number, groupId: number): SealedToken {
    const place = { purpose: 'user_group.token', teamId, id: groupId } as const
    return { ...this.seal(Buffer.from(token), place), hash: this.hash(token) }
  }

  openToken({ id, teamId, token }: { id: number; teamId: number; token: Sealed }): string {
    const opened = this.#opened.get(id)
    if (opened !== undefined && opened.teamId === teamId && opened.sealed === asText(token.bytes)) return opened.plain
    const plain = this.open(token, { purpose: 'user_group.token', teamId, id }).toString()
    this.#opened.offer(id, () => ({ teamId, sealed: asText(token.bytes), plain }))
    return plain
  }

  seal(plain: Uint8Array, place: Place): Sealed {
    return this.#ring.seal(plain, context(place))
  }

  open(sealed: Sealed, place: Place): Buffer {
    return this.#ring.open(sealed, context(place))
  }

  canOpen(keyId: string): boolean {
    return this.#ring.has(keyId)
  }

  get newestKeyId(): string {
    return this.#ring.newestId
  }

  get keyIds(): string[] {
    return this.#ring.ids
  }
}

/** To be kept: bytes would keep the whole buffer alive that they came in. */
function asText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}

function context({ purpose, teamId, id }: Place): string {
  return `${purpose} team=${teamId} id=${id}`
}
