import { crc32 } from 'node:zlib'
import { alphabet, writeNumber } from './base62.ts'
import { randomBytes } from './random.ts'

const secretLength = 32
/** Of a user group token, the last characters of its secret. */
export const leadLength = 10
const checksumLength = 6
// The largest multiple of 62 in a byte: higher bytes are thrown away, so that every character is equally likely.
const unbiased = 248
/** Where a text is put together. To V8 a sum of texts is a note of its parts only, with which it writes JSON half as fast. */
const draft = Buffer.alloc(64)

type TokenPrefix = 'ugt_' | 'uga_'

/** Prefix, 32 random characters, checksum: a secret scanner knows it, and a typing error is found without a look-up. */
export function mintToken(prefix: TokenPrefix): string {
  const start = draft.write(prefix)
  return draftWithChecksum(drawCharacters(start, start + secretLength))
}

/** The prefix and the random characters of a user group token that leads to its group by the others. */
export function mintBeginning(): string {
  const start = draft.write('ugt_')
  return draft.toString('latin1', 0, drawCharacters(start, start + secretLength - leadLength))
}

/** Those of a token that is there, and the others up to its checksum. */
export function partsOf(token: string): { beginning: string; lead: string } {
  const end = token.length - checksumLength
  return { beginning: token.slice(0, end - leadLength), lead: token.slice(end - leadLength, end) }
}

export function withChecksum(secret: string): string {
  return draftWithChecksum(draft.write(secret, 'latin1'))
}

/** An id that nobody chose, for what has none of its own. */
export function mintId(prefix: 'ds_' | 'sch_'): string {
  const start = draft.write(prefix)
  return draft.toString('latin1', 0, drawCharacters(start, start + 20))
}

/** What a token from elsewhere looks like: one that an operator chose, or that came along from another system. */
export const visibleAscii = /^[\x21-\x7e]{16,255}$/

/** False for what looks minted here, but was not: a typing error, or a guess. */
export function hasRightChecksum(token: string, prefix: TokenPrefix): boolean {
  if (token.length !== prefix.length + secretLength + checksumLength) return false
  return token === withChecksum(token.slice(0, -checksumLength))
}

/** What a secret scanner, or a log redactor, looks for. */
export const tokenPattern = /ug[ta]_\w{12,}/

const everyToken = new RegExp(tokenPattern, 'g')

/** For a text that repeats what somebody may have put into the wrong place. */
export function withoutTokens(text: string): string {
  return text.replaceAll(everyToken, '…')
}

function drawCharacters(start: number, end: number): number {
  let at = start
  while (at < end) {
    for (const byte of randomBytes(end - at + 16)) {
      if (byte < unbiased && at < end) draft[at++] = alphabet[byte % alphabet.length] ?? 0
    }
  }
  return at
}

function draftWithChecksum(start: number): string {
  const end = start + checksumLength
  writeNumber(crc32(draft.subarray(0, start)), draft, start, end)
  return draft.toString('latin1', 0, end)
}
