import { type Database, run, sql } from './database.ts'

const teamWithOld = sql<[teamId: number]>`
  select team_id from event_position
  where (select at from event where event.team_id = event_position.team_id order by id limit 1) < $1 limit 1`

// Of a batch from the oldest on: an event behind one that is to be kept waits for it.
const deleteOld = sql<[id: number]>`
  delete from event where team_id = $1 and id in (
    select id from (select id, at from event where team_id = $1 order by id limit $3) as oldest where at < $2)
  returning id`

const deleteOldTokens = sql<[userGroupId: number]>`
  delete from former_token where ${{
    postgres: 'hash in (select hash from former_token where valid_until < $1 order by valid_until limit $2)',
    // By their order. With each of them goes its row in the table of all tokens.
    sqlite: `valid_until < $1 and rotated_at <= (select max(rotated_at) from (
      select rotated_at from former_token where valid_until < $1 and rotated_at < $1 order by rotated_at limit $2))`,
  }}
  returning user_group_id`

/** Forgets one small batch of what is older than `before`; returns how much it was. */
export function pruneHistory(database: Database, before: number, batch: number): Promise<number> {
  return database.write(function* () {
    const [team] = yield* run(teamWithOld, before)
    const events = team ? yield* run(deleteOld, ...team, before, batch) : []
    const tokens = yield* run(deleteOldTokens, before, batch)
    return events.length + tokens.length
  }, 'repeatable')
}
