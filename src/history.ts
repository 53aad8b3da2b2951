import type { Service } from './service.ts'

const day = 86_400_000
const hour = 3_600_000
const batch = 500

/** Forgets what is older than the retention, every hour and in small batches, so that no request waits for it. */
export function keepHistoryShort(
  { store, clock }: Service,
  days: number,
  onError: (error: unknown) => void,
): () => void {
  if (days === 0) return () => {}
  let stopped = false
  const prune = async () => {
    try {
      while (!stopped && (await store.pruneHistory(clock.now() - days * day, batch)) > 0);
    } catch (error) {
      onError(error)
    }
  }
  const first = setTimeout(prune, 10_000)
  const again = setInterval(prune, hour)
  return () => {
    stopped = true
    clearTimeout(first)
    clearInterval(again)
  }
}
