/**
 * Waits for what is under way, but no longer than so many milliseconds: a connection that hangs must not stop those
 * behind it, who go by another.
 */
export function waitBriefly(underWay: Promise<void>, milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const enough = setTimeout(resolve, milliseconds)
  void underWay.then(() => {
    clearTimeout(enough)
    resolve()
  })
  return promise
}
