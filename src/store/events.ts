import type { AuditEvent, EventDetail, EventKind, NewEvent } from '../events/event.ts'
import { run, sql, type Work } from './database.ts'
import { manyRows, runMany } from './many-rows.ts'

const takePositions = sql`
  insert into event_position (team_id, last) values ($1, $2)
  on conflict (team_id) do update set last = event_position.last + $2`

// Each counts back from the last position taken, so that nobody has to wait for what that is.
const insertMany = manyRows(
  `insert into event (team_id, id, at, kind, api_token, by_api_token_id, subject, renamed_to, detail)
  select team_id, last - column1, column2, column3, column4, column5, column6, column7, column8
  from event_position, (values`,
  '(cast(? as bigint), cast(? as bigint), ?, ?, cast(? as bigint), ?, ?, ?)',
  ') as happened where team_id = $1',
)

/** Who acts, on which team: what every change is recorded under. */
export interface Actor {
  teamId: number
  /** An API token; null for a command at the terminal. */
  by: AuditEvent['by']
}

export const waitForTurn = sql`
  insert into event_position (team_id, last) values ($1, 0)
  on conflict (team_id) do update set last = event_position.last`

/** From here to the commit no other change of the team's is under way that takes its turn too: what is checked stays so. */
export function* takeTurn(teamId: number): Work<void> {
  yield* run(waitForTurn, teamId)
}

/**
 * For who finds what it has committed before, without an answer: where that waited for a standby of PostgreSQL, it may be
 * on this server alone. Any change will do that is committed behind it, for that waits for both.
 */
export function* waitForStandby(teamId: number): Work<void> {
  yield* takeTurn(teamId)
}

/** Part of the transaction of the change it records: both happen, or neither. */
export function* record(
  { teamId, by }: Actor,
  kind: EventKind,
  subject: string | null,
  now: number,
  detail: EventDetail | null = null,
  renamedTo: string | null = null,
): Work<void> {
  yield { event: { teamId, at: now, kind, by, subject, renamedTo, detail } }
}

/** What a change sets, by the names that callers know. */
export function fieldsOf(change: object): string[] {
  return Object.keys(change).map((name) => name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`))
}

/** The last step of a transaction: numbers what happened in it, team by team, and writes it down. */
export function* writeEvents(events: readonly NewEvent[]): Work<void> {
  const byTeam = [...Map.groupBy(events, ({ teamId }) => teamId)]
  // In one order everywhere, so that two transactions wait for each other instead of deadlocking.
  byTeam.sort(([one], [other]) => one - other)
  for (const [teamId, own] of byTeam) {
    yield* run(takePositions, teamId, own.length)
    const rows = own.map(({ at, kind, by, subject, renamedTo, detail }, index) => [
      ...[own.length - 1 - index, at, kind, by?.name ?? null, by?.id ?? null, subject, renamedTo],
      detail && JSON.stringify(detail),
    ])
    yield* runMany(insertMany, [teamId], rows)
  }
}
