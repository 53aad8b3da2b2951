import { quickHash } from '../quick-hash.ts'
import { Recent } from '../recent.ts'
import { hasRightChecksum, mintBeginning, mintToken, partsOf, visibleAscii, withChecksum } from './format.ts'
import type { KeyRing, Sealed } from './key-ring.ts'
import { keyedHash } from './keyed-hash.ts'
import { Leads } from './leads.ts'

export interface SealedToken extends Sealed {
  /** Finds the token without revealing it. */
  hash: Uint8Array
}

/** What a token of a user group is found by. */
export interface TokenKey {
  /** The group that it was made for, if it says so. */
  groupId: number | null
  hash: Uint8Array
  /** What it is found by in any other group, which an import has brought it to. */
  longHash(): Uint8Array
}

export interface MintedToken {
  token: string
  sealed: SealedToken
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
  readonly #leads: Leads
  readonly #leadsFrom: number
  readonly #keys = new Recent<{ token: string; key: TokenKey }>(12_000)
  /** What was opened, by the id of its group: the same bytes in the same place open to the same token. */
  readonly #opened = new Recent<{ teamId: number; sealed: string; plain: string }>(12_000)

  /** From `leadsFrom` on nobody uses the database who would not find a token that leads to its group. */
  constructor(ring: KeyRing, lookupKey: Uint8Array, leadsFrom: number) {
    this.#ring = ring
    this.hash = keyedHash(lookupKey)
    this.#leads = new Leads(this.hash)
    this.#leadsFrom = leadsFrom
  }

  mintForUserGroup(teamId: number, groupId: number, now: number): MintedToken {
    if (now < this.#leadsFrom) {
      const token = mintToken('ugt_')
      return { token, sealed: this.#sealToken(token, teamId, groupId, this.hash(token)) }
    }
    const beginning = mintBeginning()
    const { lead, hash } = this.#leads.write(beginning, groupId)
    const token = withChecksum(beginning + lead)
    return { token, sealed: this.#sealToken(token, teamId, groupId, hash) }
  }

  mintForApi(): string {
    return mintToken('uga_')
  }

  /** Undefined for what cannot be a token of a user group. */
  lookup(token: string): TokenKey | undefined {
    const isOurs = token.startsWith('ugt_')
    if (!(isOurs ? hasRightChecksum(token, 'ugt_') : visibleAscii.test(token))) return undefined
    const key = (isOurs && this.#leads.read(partsOf(token))) || { groupId: null, hash: this.hash(token) }
    // Made anew even where it is the same: else the answer to another team's token would take longer than that to nobody's.
    let long: Uint8Array | undefined
    return { ...key, longHash: () => (long ??= this.hash(token)) }
  }

  /** The same for one that is shown again and again. */
  recallLookup(token: string): TokenKey | undefined {
    const number = quickHash(token)
    const known = this.#keys.get(number)
    if (known?.token === token) return known.key
    const key = this.lookup(token)
    if (key !== undefined) this.#keys.offer(number, () => ({ token, key }))
    return key
  }

  /** The hash an API token is found by. Its checksum is not looked at: an operator may have chosen it, with our prefix even. */
  lookupApiToken(token: string): Uint8Array | undefined {
    return visibleAscii.test(token) ? this.hash(token) : undefined
  }

  /** For a token that a group brings along. */
  sealToken(token: string, teamId: number, groupId: number): SealedToken {
    return this.#sealToken(token, teamId, groupId, this.hash(token))
  }

  #sealToken(token: string, teamId: number, groupId: number, hash: Uint8Array): SealedToken {
    const place = { purpose: 'user_group.token', teamId, id: groupId } as const
    return { ...this.seal(Buffer.from(token), place), hash }
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
