import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Random bytes for keys and tokens, drawn from the system in bulk: a dozen would cost it as much as thousands. */
export function randomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + count))
  // No secret stays behind where it was drawn.
  pool.fill(0, used, used + count)
  used += count
  return bytes
}
