import { alphabet, readNumber, writeNumber } from './base62.ts'
import { leadLength } from './format.ts'
import { keyedHash } from './keyed-hash.ts'

const halfLength = leadLength / 2
const half = alphabet.length ** halfLength
const draft = Buffer.alloc(leadLength)

/**
 * The last characters of a token's secret say which user group it was made for, so that the group is found without an
 * index of all tokens: a new token there changes a page of the database that no other needs. They are the group's id,
 * added to what a keyed hash makes of the characters before, which are random. Without the key nobody can tell them
 * from random ones, or two tokens of one group from those of two. Whoever has one can make others of it that lead
 * elsewhere, but they open nothing: the group that is led to compares the hash.
 */
export class Leads {
  readonly #hash: (text: string) => Uint8Array

  /** No token contains a space: what makes the key for this is not the hash of any. */
  constructor(hashOfToken: (text: string) => Uint8Array) {
    this.#hash = keyedHash(hashOfToken('leads of tokens'))
  }

  write(beginning: string, groupId: number): { lead: string; hash: Uint8Array } {
    const hash = this.#hash(beginning)
    writeNumber((Math.floor(groupId / half) + mask(hash, 0)) % half, draft, 0, halfLength)
    writeNumber(((groupId % half) + mask(hash, 6)) % half, draft, halfLength, leadLength)
    return { lead: draft.toString('latin1'), hash: hash.slice(12) }
  }

  /** Undefined where it leads nowhere. */
  read({ beginning, lead }: { beginning: string; lead: string }): { groupId: number; hash: Uint8Array } | undefined {
    const hash = this.#hash(beginning)
    const high = (readNumber(lead, 0, halfLength) + half - (mask(hash, 0) % half)) % half
    const low = (readNumber(lead, halfLength, leadLength) + half - (mask(hash, 6) % half)) % half
    const groupId = high * half + low
    return Number.isSafeInteger(groupId) ? { hash: hash.slice(12), groupId } : undefined
  }
}

/** So many bits that each remainder is as likely as any other, to one in 300,000. */
function mask(hash: Uint8Array, at: number): number {
  let number = 0
  for (let place = at; place < at + 6; place++) number = number * 256 + (hash[place] ?? 0)
  return number
}
