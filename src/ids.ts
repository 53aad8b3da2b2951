import { randomInt } from 'node:crypto'

const epoch = Date.UTC(2024, 0, 1)
const perMillisecond = 2048

let last = 0

/**
 * An id made before the row is written, so that a sealed value can be bound to it. Ids sort by age and stay below 2^53
 * until the year 2163. Two processes may make the same one in the same millisecond: the primary key refuses the
 * second, and its maker tries again.
 */
export function newId(now: number): number {
  last = Math.max(last + 1, (now - epoch) * perMillisecond + randomInt(perMillisecond))
  return last
}
