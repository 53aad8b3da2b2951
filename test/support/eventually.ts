import { setTimeout as pause } from 'node:timers/promises'

/** Waits for what becomes true by itself, and returns it; the timeout is an error that says what was missing. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  patience = 15_000,
): Promise<T> {
  const deadline = performance.now() + patience
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > deadline) throw new Error(`after ${patience} ms, still not: ${what}`)
    await pause(10)
  }
}
