import type { Service } from './service.ts'

const day = 86_400_000
const hour = 3_600_000
const batch = 500

interface Told {
  forgot(count: number, before: number): void
  failed(error: unknown): void
}

/** Forgets what is older than the retention, every hour and in small batches, so that no request waits for it. */
export function keepHistoryShort({ store, clock }: Service, days: number, told: Told): () => void {
  if (days === 0) return () => {}
  let stopped = false
  const prune = async () => {
    const before = clock.now() - days * day
    let [forgotten, count] = [0, 0]
    try {
      do {
        count = await store.pruneHistory(before, batch)
        forgotten += count
      } while (!stopped && count > 0)
    } catch (error) {
      told.failed(error)
    }
    // A wrong clock may have made it forget too much, and nothing else would show that.
    if (forgotten > 0) told.forgot(forgotten, before)
  }
  const first = setTimeout(prune, 10_000)
  const again = setInterval(prune, hour)
  return () => {
    stopped = true
    clearTimeout(first)
    clearInterval(again)
  }
}
