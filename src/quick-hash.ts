import { randomInt } from 'node:crypto'

const seed = randomInt(2 ** 32)

/**
 * A number for a text, to find it in a map by: FNV-1a from a start nobody knows. Two texts may share one. A map of
 * strings would do, but V8 enters every string that it is asked for into a table of its own first, and that costs as
 * much as the look-up itself.
 */
export function quickHash(text: string, start = 0): number {
  let hash = seed ^ start
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16_777_619)
  return hash >>> 2
}
