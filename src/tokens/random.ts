import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/** Random bytes for keys and tokens, drawn from the system in bulk: a dozen would cost it as much as thousands. */
export function randomBytes(count: number): Buffer {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.allocUnsafe(count)
  for (let at = 0; at < count; at++) {
    bytes[at] = pool[used] ?? 0
    // No secret stays behind where it was drawn.
    pool[used++] = 0
  }
  return bytes
}
