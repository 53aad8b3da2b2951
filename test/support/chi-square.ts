/** Digits and letters, as tokens are made of. */
export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** How far letters and digits are from being equally often. */
export function chiSquare(characters: readonly string[]): number {
  const counts = Map.groupBy(characters, (character) => character)
  const expected = characters.length / base62.length
  return [...base62].reduce((sum, each) => sum + ((counts.get(each)?.length ?? 0) - expected) ** 2 / expected, 0)
}
