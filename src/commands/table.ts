import { displayWidth } from './display-width.ts'
import { visible } from './visible.ts'

type Row = readonly string[]

export function table(headings: Row, rows: readonly Row[]): string {
  return growingTable(headings)(rows)
}

/** A table of which more and more is known: each part fits below the ones before, until a cell needs more room. */
export function growingTable(headings: Row, roomFor: readonly Row[] = []): (rows: readonly Row[]) => string {
  const widths: number[] = []
  const makeRoom = (row: Row) => {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell))
  }
  const line = (row: Row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell)))
      .join('  ')
      .trimEnd()
  roomFor.forEach(makeRoom)
  let above = [headings]
  return (rows) => {
    const part = [...above, ...rows.map((row) => row.map(visible))]
    above = []
    part.forEach(makeRoom)
    return part.map(line).join('\n')
  }
}
