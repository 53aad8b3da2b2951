export const alphabet = Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
const digits = new Map([...alphabet].map((code, digit) => [code, digit]))

/** Fills the place with digits, the lowest last. */
export function writeNumber(number: number, into: Buffer, start: number, end: number): void {
  let rest = number
  for (let at = end - 1; at >= start; at--) {
    into[at] = alphabet[rest % alphabet.length] ?? 0
    rest = Math.floor(rest / alphabet.length)
  }
}

/** NaN where a character is no digit. */
export function readNumber(text: string, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at++)
    number = number * alphabet.length + (digits.get(text.charCodeAt(at)) ?? Number.NaN)
  return number
}
