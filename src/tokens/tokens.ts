import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { hasRightChecksum, isVisibleAscii, mintToken } from './format.ts'
import type { KeyRing, Sealed } from './key-ring.ts'

export type { Sealed }

export interface SealedToken extends Sealed {
  /** Finds the token without revealing it. */
  hash: Uint8Array
}

/** The row a user group token belongs to: its seal opens nowhere else. */
export interface TokenOwner {
  teamId: number
  groupId: number
}

/** All that is done with secrets: made here, sealed here, opened here. */
export class Tokens {
  readonly #ring: KeyRing
  readonly #lookupKey: KeyObject

  constructor(ring: KeyRing, lookupKey: Uint8Array) {
    this.#ring = ring
    this.#lookupKey = createSecretKey(lookupKey)
  }

  mintForUserGroup(): string {
    return mintToken('ugt_')
  }

  mintForApi(): string {
    return mintToken('uga_')
  }

  /** The hash a user group token is found by; undefined for what cannot be one. */
  lookup(token: string): Uint8Array | undefined {
    const plausible = token.startsWith('ugt_') ? hasRightChecksum(token, 'ugt_') : isVisibleAscii(token)
    return plausible ? this.hash(token) : undefined
  }

  /** The same for an API token. Its checksum is not looked at: an operator may have chosen it, with our prefix even. */
  lookupApiToken(token: string): Uint8Array | undefined {
    return isVisibleAscii(token) ? this.hash(token) : undefined
  }

  hash(token: string): Uint8Array {
    return createHmac('sha256', this.#lookupKey).update(token).digest()
  }

  seal(token: string, owner: TokenOwner): SealedToken {
    return { ...this.#ring.seal(Buffer.from(token), tokenContext(owner)), hash: this.hash(token) }
  }

  open(group: { id: number; teamId: number; token: Sealed }): string {
    return this.#ring.open(group.token, tokenContext({ teamId: group.teamId, groupId: group.id })).toString()
  }

  /** The same token under the newest master key. */
  reseal(sealed: Sealed, owner: TokenOwner): Sealed {
    const context = tokenContext(owner)
    return this.#ring.seal(this.#ring.open(sealed, context), context)
  }

  canOpen(keyId: string): boolean {
    return this.#ring.has(keyId)
  }

  get newestKeyId(): string {
    return this.#ring.newestId
  }
}

function tokenContext(owner: TokenOwner): string {
  return `user_group.token team=${owner.teamId} group=${owner.groupId}`
}
