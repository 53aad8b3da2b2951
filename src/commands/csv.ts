import { OperatorError } from '../operator-error.ts'

/** The cells of one record of RFC 4180, given without its line end; undefined when its quotes are not in order. */
export function parseCsvRecord(text: string): string[] | undefined {
  const cells: string[] = []
  for (let at = 0; ; ) {
    const quoted = text[at] === '"'
    const end = quoted ? closingQuote(text, at + 1) + 1 : nextComma(text, at)
    const cell = quoted ? text.slice(at + 1, end - 1) : text.slice(at, end)
    if (quoted ? end === 0 : cell.includes('"')) return undefined
    cells.push(quoted ? cell.replaceAll('""', '"') : cell)
    if (end === text.length) return cells
    if (text[end] !== ',') return undefined
    at = end + 1
  }
}

function nextComma(text: string, from: number): number {
  const comma = text.indexOf(',', from)
  return comma < 0 ? text.length : comma
}

/** The quote that ends a cell: not one of two, which stand for a quote in it. -1 when there is none. */
function closingQuote(text: string, from: number): number {
  let quote = text.indexOf('"', from)
  while (quote >= 0 && text[quote + 1] === '"') quote = text.indexOf('"', quote + 2)
  return quote
}

export function csvRecord(cells: readonly string[]): string {
  return cells.map((cell) => (/[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')
}

/** The names of the columns, from the first record. */
export function parseCsvHeader(text: string): string[] {
  // With other line ends the whole file is one line, and nothing of it would be imported.
  if (/[^\P{Cc}\t]/u.test(text))
    throw new OperatorError('The first line has control characters in it.', 'End the lines with LF or CRLF.')
  const columns = parseCsvRecord(text)
  if (columns === undefined) throw badHeader('has quotes in the wrong places')
  if (!columns.includes('user_group_id')) throw badHeader('names no column user_group_id')
  if (new Set(columns).size < columns.length) throw badHeader('names a column twice')
  return columns
}

function badHeader(problem: string): OperatorError {
  return new OperatorError(
    `The first line ${problem}.`,
    'Begin the file with a line such as: user_group_id,name,mapping,properties',
  )
}
