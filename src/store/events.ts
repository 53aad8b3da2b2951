import type { AuditEvent, EventKind } from '../events/event.ts'
import { type Database, run, sql, type Work } from './database.ts'
import { manyRows, runMany } from './many-rows.ts'
import type { Events } from './store.ts'

const takePosition = sql<[id: number]>`
  insert into event_position (team_id, last) values ($1, 1)
  on conflict (team_id) do update set last = event_position.last + 1
  returning last`

const insert = sql`
  insert into event (team_id, id, at, kind, api_token, subject, renamed_to) values ($1, $2, $3, $4, $5, $6, $7)`

const takePositions = sql<[last: number]>`
  insert into event_position (team_id, last) values ($1, $2)
  on conflict (team_id) do update set last = event_position.last + $2
  returning last`

const insertMany = manyRows(
  'events',
  'insert into event (team_id, at, kind, api_token, id, subject) values',
  '($1, $2, $3, $4, ?, ?)',
  '',
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

const deleteOld = sql<[id: number]>`
  delete from event where (team_id, id) in (select team_id, id from event where at < $1 order by at limit $2)
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
  actor: Actor,
  kind: EventKind,
  subject: string | null,
  now: number,
  renamedTo?: string,
): Work<void> {
  const [position] = yield* run(takePosition, actor.teamId)
  yield* run(insert, actor.teamId, position?.[0] ?? 0, now, kind, actor.apiToken, subject, renamedTo ?? null)
}

/** The same for many things at once: their numbers follow each other. */
export function* recordMany(actor: Actor, kind: EventKind, subjects: readonly string[], now: number): Work<void> {
  if (subjects.length === 0) return
  const [position] = yield* run(takePositions, actor.teamId, subjects.length)
  const first = (position?.[0] ?? 0) - subjects.length + 1
  const rows = subjects.map((subject, index) => [first + index, subject])
  yield* runMany(insertMany, [actor.teamId, now, kind, actor.apiToken], rows)
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
    const events = yield* run(deleteOld, before, batch)
    const tokens = yield* run(deleteOldTokens, before, batch)
    return events.length + tokens.length
  }, 'repeatable')
}
