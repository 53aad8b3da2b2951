import { setImmediate as othersTurn } from 'node:timers/promises'
import type { AuditEvent, EventKind } from '../events/event.ts'
import { fragment, sql, type TeamDatabase } from './database.ts'
import { page } from './page.ts'
import type { EventQuery, Events, Page } from './store.ts'

const lastPosition = sql<[id: number]>`select last from event_position where team_id = $1`

type EventRow = [
  id: number,
  at: number,
  kind: EventKind,
  apiToken: string | null,
  apiTokenId: number | null,
  subject: string | null,
  renamedTo: string | null,
  detail: string | null,
]

const firstBehindAndNewest = sql<[first: number | null, newest: number]>`
  select (select id from event where team_id = $1 and id > $2 order by id limit 1), last
  from event_position where team_id = $1`

/**
 * How many events a page goes over for those that are asked for, whatever their number. An index by user group would
 * find them at once, and make every event dearer: four times as dear on SQLite, in a file of a million.
 */
const stretch = 10_000

/** How many at a time: on SQLite nobody else is served meanwhile, and each may be on a page of the file of its own. */
const piece = 500

// Of an event from before API tokens were recorded by their id, the name is all there is.
const inPiece = fragment`
  select id, at, kind, api_token, by_api_token_id, subject, renamed_to, detail from event
  where team_id = $1 and id between $2 and $3
    and (cast($4 as text) is null or (kind like 'user_group.%' and (subject = $4 or renamed_to = $4)))
    and (cast($5 as text) is null or kind = $5)
    and (cast($6 as bigint) is null or by_api_token_id = $6 or (by_api_token_id is null
      and api_token = (select name from api_token where team_id = $1 and id = $6)))`
const listed = {
  asc: sql<EventRow>`${inPiece} order by id limit $7`,
  desc: sql<EventRow>`${inPiece} order by id desc limit $7`,
}

export class EventStore implements Events {
  readonly #database: TeamDatabase
  readonly #teamId: number

  constructor(database: TeamDatabase, teamId: number) {
    this.#database = database
    this.#teamId = teamId
  }

  async list(query: EventQuery): Promise<Page<AuditEvent>> {
    const { after = 0, limit, order = 'asc' } = query
    const place = order === 'asc' ? after : 0
    const [[first, newest] = [null, 0]] = await this.#database.read(firstBehindAndNewest, this.#teamId, place)
    if (first === null) return { items: [], next: null }
    const { from, to, next } = stretchOf(query, first, newest)
    const found = page(await this.#search(query, from, to), limit, ({ id }) => id)
    return { ...found, next: found.next ?? next }
  }

  /** One more than asked for, if there is one: it tells that the page is full. */
  async #search(query: EventQuery, from: number, to: number): Promise<AuditEvent[]> {
    const { userGroup, kind, apiTokenId, limit, order = 'asc' } = query
    const filter = [userGroup ?? null, kind ?? null, apiTokenId ?? null]
    const found: AuditEvent[] = []
    for (let looked = 0; looked <= to - from; looked += piece) {
      if (looked > 0) await othersTurn()
      const low = order === 'asc' ? from + looked : Math.max(from, to - looked - piece + 1)
      const high = order === 'asc' ? Math.min(to, from + looked + piece - 1) : to - looked
      const left = limit + 1 - found.length
      const rows = await this.#database.read(listed[order], this.#teamId, low, high, ...filter, left)
      found.push(...rows.map(auditEvent))
      if (found.length > limit) break
    }
    return found
  }

  async newest(): Promise<number> {
    const [row] = await this.#database.read(lastPosition, this.#teamId)
    return row?.[0] ?? 0
  }
}

/** What a page goes over, and where the next goes on. Events are numbered without a gap, from the oldest that is kept. */
function stretchOf({ after, order }: EventQuery, first: number, newest: number) {
  if (order === 'desc') {
    const to = after === undefined ? newest : Math.min(newest, after - 1)
    const from = Math.max(first, to - stretch + 1)
    return { from, to, next: from > first ? from : null }
  }
  const to = Math.min(newest, first + stretch - 1)
  return { from: first, to, next: to < newest ? to : null }
}

function auditEvent([id, at, kind, apiToken, apiTokenId, subject, renamedTo, detail]: EventRow): AuditEvent {
  const by = apiToken === null ? null : { id: apiTokenId, name: apiToken }
  return { id, at, kind, by, subject, renamedTo, detail: detail === null ? null : JSON.parse(detail) }
}
