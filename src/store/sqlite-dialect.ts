import type { Row, Statement } from './database.ts'

/** A statement in SQLite's words: tables are declared in PostgreSQL's, with types that it calls otherwise. */
export function dialect({ sqlite, givesFirstValue }: Statement<Row>): string {
  // One who writes there is alone, and has nothing to lock.
  const numbered = withPlaces(sqlite).replace(/\s+for update of \w+$/, '')
  // It would make a table of its own to keep what it returns in, even if that is a number.
  if (givesFirstValue) return numbered.replace(/\s+returning \w+$/, '')
  if (!/^(create|alter) /i.test(numbered)) return numbered
  return numbered
    .replaceAll(/\b(bigint|smallint)\b/g, 'integer')
    .replaceAll(/\bbytea\b/g, 'blob')
    .replaceAll(' collate "C"', '')
    .replace(/^(create table .*\))$/s, '$1 strict')
}

/** Values in order need no number. Each that has one is a name to Node, which looks through them for every value. */
function withPlaces(text: string): string {
  let last = 0
  return text.replaceAll(/\$(\d+)/g, (_, digits) => {
    const number = Number(digits)
    const isNext = number === last + 1
    last = Math.max(last, number)
    return isNext ? '?' : `?${number}`
  })
}
