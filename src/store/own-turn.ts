import { OneByOne } from '../one-by-one.ts'
import type { Soon } from '../soon.ts'

/** More than user groups commonly have. */
const large = 4 * 1024

const turns = new OneByOne<() => void>((begin) => begin())

/**
 * Rows that are read or written together come together, and what 64 KiB of properties hold may take a tenth of a second
 * to parse. With a turn of the event loop for each such row, nobody else waits for all of them.
 */
export function ownTurn(mapping: string, properties: string): Soon<void> {
  if (mapping.length + properties.length <= large) return
  return new Promise((resolve) => turns.add(resolve))
}
