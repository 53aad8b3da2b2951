import type { AuditEvent, EventKind, NewEvent } from '../events/event.ts'
import { type Database, run, sql, type Work } from './database.ts'
import { manyRows, runMany } from './many-rows.ts'
import type { Events } from './store.ts'

const takePositions = sql`
  insert into event_position (team_id, last) values ($1, $2)
  on conflict (team_id) do update set last = event_position.last + $2`

// Each counts back from the last position taken, so that nobody has to wait for what that is.
const insertMany = manyRows(
  `insert into event (team_id, id, at, kind, api_token, subject, renamed_to)
  select team_id, last - column1, column2, column3, column4, column5, column6 from event_position, (values`,
  '(cast(? as bigint), cast(? as bigint), ?, ?, ?, ?)',
  ') as happened where team_id = $1',
)

const newest = sql<[id: number]>`select last from event_position where team_id = $1`

type EventRow = [
  id: number,
  at: number,
  kind: EventKind,
  apiToken: string | null,
  subject: string | null,
  renamedTo: string | null,
]

const after = sql<EventRow>`
  select id, at, kind, api_token, subject, renamed_to from event
  where team_id = $1 and id > $2 order by id limit $3`

const teamWithOld = sql<[teamId: number]>`
  select team_id from event_position
  where (select at from event where event.team_id = event_position.team_id order by id limit 1) < $1 limit 1`

// Of a batch from the oldest on: an event behind one that is to be kept waits for it.
const deleteOld = sql<[id: number]>`
  delete from event where team_id = $1 and id in (
    select id from (select id, at from event where team_id = $1 order by id limit $3) as oldest where at < $2)
  returning id`

const deleteOldTokens = sql<[hash: Uint8Array]>`
  delete from former_token where hash in (select hash from former_token where valid_until < $1 order by valid_until limit $2)
  returning hash`

/** Who acts, on which team: what every change is recorded under. */
export interface Actor {
  teamId: number
  /** The name of an API token; null for a command at the terminal. */
  apiToken: string | null
}

const waitForTurn = sql`
  insert into event_position (team_id, last) values ($1, 0)
  on conflict (team_id) do update set last = event_position.last`

/** From here to the commit no other change of the team's is under way that takes its turn too: what is checked stays so. */
export function* takeTurn(teamId: number): Work<void> {
  yield* run(waitForTurn, teamId)
}

/** Part of the transaction of the change it records: both happen, or neither. */
export function* record(
  { teamId, apiToken }: Actor,
  kind: EventKind,
  subject: string | null,
  now: number,
  renamedTo: string | null = null,
): Work<void> {
  yield { event: { teamId, at: now, kind, apiToken, subject, renamedTo } }
}

/** The last step of a transaction: numbers what happened in it, team by team, and writes it down. */
export function* writeEvents(events: readonly NewEvent[]): Work<void> {
  const byTeam = [...Map.groupBy(events, ({ teamId }) => teamId)]
  // In one order everywhere, so that two transactions wait for each other instead of deadlocking.
  byTeam.sort(([one], [other]) => one - other)
  for (const [teamId, own] of byTeam) {
    yield* run(takePositions, teamId, own.length)
    const rows = own.map(({ at, kind, apiToken, subject, renamedTo }, index) => {
      return [own.length - 1 - index, at, kind, apiToken, subject, renamedTo]
    })
    yield* runMany(insertMany, [teamId], rows)
  }
}

export class EventStore implements Events {
  readonly #database: Database
  readonly #teamId: number

  constructor(database: Database, teamId: number) {
    this.#database = database
    this.#teamId = teamId
  }

  async after(position: number, limit: number): Promise<AuditEvent[]> {
    const rows = await this.#database.read(after, this.#teamId, position, limit)
    return rows.map(([id, at, kind, apiToken, subject, renamedTo]) => ({ id, at, kind, apiToken, subject, renamedTo }))
  }

  async newest(): Promise<number> {
    const [row] = await this.#database.read(newest, this.#teamId)
    return row?.[0] ?? 0
  }
}

/** Forgets one small batch of what is older than `before`; returns how much it was. */
export function pruneHistory(database: Database, before: number, batch: number): Promise<number> {
  return database.write(function* () {
    const [team] = yield* run(teamWithOld, before)
    const events = team ? yield* run(deleteOld, ...team, before, batch) : []
    const tokens = yield* run(deleteOldTokens, before, batch)
    return events.length + tokens.length
  }, 'repeatable')
}
