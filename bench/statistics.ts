export function median(values: readonly number[]): number {
  const middle = (values.length - 1) / 2
  const sorted = values.toSorted((a, b) => a - b)
  return (at(sorted, Math.floor(middle)) + at(sorted, Math.ceil(middle))) / 2
}

/** The value that a share of them is below. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return at(sorted, Math.min(sorted.length - 1, Math.floor(sorted.length * share)))
}

function at(values: readonly number[], index: number): number {
  const value = values[index]
  if (value === undefined) throw new Error('nothing was measured')
  return value
}
