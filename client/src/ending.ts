const waiting = new WeakMap<EventTarget, Set<() => void>>()

/**
 * Calls what it is given when the signal ends; returns what takes that back. By hand instead of AbortSignal.any, so that
 * nothing is left behind on a signal that outlives many calls, and with one listener for all: Node 20 warns of many.
 */
export function whenEnded(signal: AbortSignal | undefined, stop: () => void): () => void {
  if (signal === undefined) return () => {}
  const stops = waiting.get(signal) ?? new Set()
  waiting.set(signal, stops.add(stop))
  signal.addEventListener('abort', stopAll)
  return () => {
    stops.delete(stop)
    if (stops.size === 0) signal.removeEventListener('abort', stopAll)
  }
}

function stopAll({ target }: Event): void {
  for (const stop of (target && waiting.get(target)) ?? []) stop()
}
