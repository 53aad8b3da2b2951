type Row = readonly string[]

export function table(headings: Row, rows: readonly Row[]): string {
  return growingTable(headings)(rows)
}

/** A table of which more and more is known: each part fits below the ones before, until a cell needs more room. */
export function growingTable(headings: Row, roomFor: readonly Row[] = []): (rows: readonly Row[]) => string {
  const widths = headings.map(() => 0)
  const makeRoom = (row: Row) => {
    for (const [column, width] of widths.entries()) widths[column] = Math.max(width, row[column]?.length ?? 0)
  }
  const line = (row: Row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  roomFor.forEach(makeRoom)
  let above = [headings]
  return (rows) => {
    const part = [...above, ...rows]
    above = []
    part.forEach(makeRoom)
    return part.map(line).join('\n')
  }
}
