import {
  type Engine,
  type Fragment,
  type Row,
  run,
  type Statement,
  statementOf,
  type Value,
  type Work,
} from './database.ts'

/** The sizes a statement is written for: a thousand rows are ten statements, and a server has only three to prepare. */
const sizes = [100, 10, 1]

/** One SQL text for many rows at once, where one statement a row would be one round trip a row. */
interface ManyRows<R extends Row> {
  readonly bySize: readonly { size: number; statement: Statement<R> }[]
}

/**
 * `$1`, `$2` … in `row` are the values all rows share, each `?` is a value of its own: `'($1, ?, ?)'`. A list to look
 * something up in is written the same way: `in (`, `?`, `)`.
 */
export function manyRows<R extends Row = []>(head: string | Fragment, row: string, tail: string): ManyRows<R> {
  const begun = (engine: Engine) => (typeof head === 'string' ? head : head[engine])
  const shared = Math.max(
    0,
    ...[...`${begun('postgres')}${row}${tail}`.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)),
  )
  const bySize = sizes.map((size) => {
    let last = shared
    const rows = Array.from({ length: size }, () => row.replaceAll('?', () => `$${++last}`))
    const said = (engine: Engine) => `${begun(engine)} ${rows.join(', ')} ${tail}`.trim()
    return { size, statement: statementOf<R>(said('postgres'), said('sqlite')) }
  })
  return { bySize }
}

export function* runMany<R extends Row>(
  { bySize }: ManyRows<R>,
  shared: readonly Value[],
  rows: readonly (readonly Value[])[],
): Work<R[]> {
  const found: R[] = []
  let done = 0
  for (const { size, statement } of bySize)
    for (; rows.length - done >= size; done += size)
      found.push(...(yield* run(statement, ...shared, ...rows.slice(done, done + size).flat())))
  return found
}
