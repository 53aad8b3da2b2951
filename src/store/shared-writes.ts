import type { NewEvent } from '../events/event.ts'
import { nextQuery, type Query, type Row, type Statement, type Work } from './database.ts'
import { waitForTurn } from './events.ts'
import type { Asked } from './shared-reads.ts'

export interface SharedWrite {
  order: string
  work: () => Work<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** One of the pieces of work that share a transaction. */
class Member {
  readonly write: SharedWrite
  readonly #work: Work<unknown>
  query: Query | undefined
  settle: () => void = () => {}
  events: NewEvent[] = []
  #hasWritten = false

  constructor(write: SharedWrite) {
    this.write = write
    this.#work = write.work()
  }

  advance(rows: Row[]): void {
    this.#hasWritten ||= this.query !== undefined && mayHaveWritten(this.query.statement, rows)
    this.query = undefined
    try {
      const next = nextQuery(this.#work, rows, this.events)
      if ('result' in next) this.settle = () => this.write.resolve(next.result)
      else this.query = next
    } catch (error) {
      // What it has written would be committed with the rest.
      if (this.#hasWritten) throw error
      this.events = []
      this.settle = () => this.write.reject(error)
    }
  }
}

/** Those that can go together, and those that wait for them: of two on the same thing, the first goes first. */
export function apart(writes: readonly SharedWrite[], most = Infinity): [SharedWrite[], SharedWrite[]] {
  const together = new Map<string, SharedWrite>()
  const later = writes.filter((write) => {
    if (together.has(write.order) || together.size === most) return true
    together.set(write.order, write)
    return false
  })
  return [[...together.values()], later]
}

/**
 * Takes many pieces of work through one transaction in step: each statement that they ask at the same time is given out
 * once, with what each asks. Returns what is to be done once it is committed. An error means that they cannot go
 * together, whatever each alone can do.
 */
export function* performTogether(
  writes: readonly SharedWrite[],
  events: NewEvent[],
): Generator<Asked, () => void, Row[][]> {
  // The members, and below what they ask, are in one order everywhere, so that two transactions wait for each other instead
  // of deadlocking.
  const members = writes
    .toSorted((one, other) => alphabetically(one.order, other.order))
    .map((write) => new Member(write))
  for (const member of members) member.advance([])
  for (;;) {
    const open = members.filter(({ query }) => query !== undefined)
    if (open.length === 0) break
    const busy = open.filter(({ query }) => query?.statement !== waitForTurn)
    if (busy.length === 0) {
      yield { statement: waitForTurn, questions: teamsOf(members).map((teamId) => [teamId]) }
      for (const member of open) member.advance([])
      continue
    }
    const asked = [...Map.groupBy(busy, ({ query }) => query?.statement)]
    asked.sort(([one], [other]) => alphabetically(one?.text ?? '', other?.text ?? ''))
    for (const [statement, askers] of asked) {
      if (statement === undefined) continue
      const rows = yield { statement, questions: askers.map(({ query }) => query?.values ?? []) }
      for (const [index, member] of askers.entries()) member.advance(rows[index] ?? [])
    }
  }
  for (const member of members) events.push(...member.events)
  return () => {
    for (const { settle } of members) settle()
  }
}

/**
 * Those of whom something has happened, and those whose turn is waited for. Whoever waits for one of them does so last, and
 * for all of them in the order of their events: with one team held and the other wanted, two transactions would deadlock.
 */
function teamsOf(members: readonly Member[]): number[] {
  const teams = members.flatMap(({ query, events }) => [
    ...events.map(({ teamId }) => teamId),
    ...(query === undefined ? [] : [query.values[0] as number]),
  ])
  return [...new Set(teams)].sort((one, other) => one - other)
}

/** What returns what it changed, and returns nothing, has changed nothing. */
function mayHaveWritten({ text, givesRows }: Statement<Row>, rows: readonly Row[]): boolean {
  return !text.startsWith('select') && (rows.length > 0 || !givesRows)
}

function alphabetically(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
