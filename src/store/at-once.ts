import type { Row, Statement, Value } from './database.ts'

/** A question of one of many who ask the same statement, each with values of its own. */
export type Values = readonly Value[]

/**
 * The text that asks a statement for many at once, in PostgreSQL's words. Its values come as one array for each $n.
 * A select or an update says first for whom each row is, counted from 1; an insert gives the rows as they are. With
 * `offset 0` each asker is looked up: without, PostgreSQL may go through the rows instead, and look for their askers.
 */
export function textForMany({ text, types = [] }: Statement<Row>): string {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ')
  const columns = types.map((_, index) => `v${index + 1}`).join(', ')
  const many = `unnest(${arrays}) with ordinality as asked (${columns}, asker)`
  const one = text.replaceAll(/\$(\d+)/g, 'asked.v$1')
  if (one.startsWith('select')) return `select asked.asker, found.* from ${many}, lateral (${one} offset 0) as found`
  if (one.startsWith('insert')) return one.replace(/values \(([^()]*)\)/, (_, list) => `select ${list} from ${many}`)
  return one.replace(/\bwhere\b/, () => `from ${many} where`).replace(/\breturning\b/, 'returning asked.asker,')
}

/** The rows of each asker. What an insert returns first is the first value of the row it is about. */
export function rowsOfEach({ text }: Statement<Row>, asked: readonly Values[], rows: readonly Row[]): Row[][] {
  const found: Row[][] = asked.map(() => [])
  const isInsert = text.startsWith('insert')
  const askerOf = isInsert ? new Map(asked.map(([first], index) => [first, index])) : undefined
  for (const row of rows) {
    const [first, ...rest] = row
    const asker = askerOf ? askerOf.get(first) : Number(first) - 1
    found[asker ?? -1]?.push(askerOf ? row : rest)
  }
  return found
}

export function columnsOf(asked: readonly Values[]): Value[][] {
  return (asked[0] ?? []).map((_, column) => asked.map((values) => values[column] ?? null))
}
