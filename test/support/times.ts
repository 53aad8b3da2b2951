/** `count` things at once: `await Promise.all(times(200, () => …))`. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
