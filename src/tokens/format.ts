import { crc32 } from 'node:zlib'
import { randomBytes } from './random.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 32
const checksumLength = 6
// The largest multiple of 62 in a byte: higher bytes are thrown away, so that every character is equally likely.
const unbiased = 248

type TokenPrefix = 'ugt_' | 'uga_'

/** Prefix, 32 random characters, checksum: a secret scanner knows it, and a typing error is found without a look-up. */
export function mintToken(prefix: TokenPrefix): string {
  return withChecksum(prefix + randomCharacters(secretLength))
}

export function withChecksum(secret: string): string {
  return secret + checksum(secret)
}

/** An id that nobody chose, for what has none of its own. */
export function mintId(prefix: 'ds_' | 'sch_'): string {
  return prefix + randomCharacters(20)
}

/** What a token from elsewhere looks like: one that an operator chose, or that came along from another system. */
export const visibleAscii = /^[\x21-\x7e]{16,255}$/

/** False for what looks minted here, but was not: a typing error, or a guess. */
export function hasRightChecksum(token: string, prefix: TokenPrefix): boolean {
  if (token.length !== prefix.length + secretLength + checksumLength) return false
  const end = prefix.length + secretLength
  return token.slice(end) === checksum(token.slice(0, end))
}

/** What a secret scanner, or a log redactor, looks for. */
export const tokenPattern = /ug[ta]_\w{12,}/

const everyToken = new RegExp(tokenPattern, 'g')

/** For a text that repeats what somebody may have put into the wrong place. */
export function withoutTokens(text: string): string {
  return text.replaceAll(everyToken, '…')
}

function randomCharacters(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length + 16)) {
      if (byte < unbiased && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let text = ''
  for (let i = 0; i < checksumLength; i++) {
    text = alphabet[rest % 62] + text
    rest = Math.floor(rest / 62)
  }
  return text
}
