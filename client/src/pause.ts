const firstWait = 100
const longestWait = 5_000

/** Milliseconds: what the service asks for, and up to twice as much more each time, so that callers spread out. */
export function waitBefore(repetition: number, retryAfter = 0): number {
  return retryAfter * 1000 + Math.random() * Math.min(longestWait, firstWait * 2 ** repetition)
}

export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}
