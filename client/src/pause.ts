import { whenEnded } from './ending.ts'

const firstWait = 100
const longestWait = 5_000

/** Milliseconds: what the service asks for, and up to twice as much more each time, so that callers spread out. */
export function waitBefore(repetition: number, retryAfter = 0): number {
  return retryAfter * 1000 + Math.random() * Math.min(longestWait, firstWait * 2 ** repetition)
}

export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      forget()
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    const forget = whenEnded(signal, end)
  })
  signal?.throwIfAborted()
}
