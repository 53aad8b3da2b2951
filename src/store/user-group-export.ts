import { sql, type TeamDatabase } from './database.ts'
import { page } from './page.ts'
import type { Page, PageQuery, UserGroupWithToken } from './store.ts'
import { userGroupRecord } from './user-group-list.ts'
import { endOfStretch, type RecordRow, recordColumns } from './user-group-statements.ts'

/** Counted by one statement: of millions, all would take longer than one may. */
const stretch = 10_000

const withTokensAfter = sql<[keyId: string, sealed: Uint8Array, ...RecordRow]>`
  select token_key, token_sealed, ${recordColumns}
  from user_group where team_id = $1 and id > $2 order by id limit $3`

export async function countUserGroups(database: TeamDatabase, teamId: number): Promise<number> {
  let count = 0
  for (let last: number | null = 0; last !== null; ) {
    const found: [number | null, number][] = await database.read(endOfStretch, teamId, last, stretch)
    const [end, length] = found[0] ?? [null, 0]
    count += length
    last = end
  }
  return count
}

export async function listWithTokens(
  database: TeamDatabase,
  teamId: number,
  { after, limit }: PageQuery<number>,
): Promise<Page<UserGroupWithToken>> {
  const rows = await database.read(withTokensAfter, teamId, after, limit + 1)
  const groups = rows.map(([keyId, bytes, ...row]) => {
    return { ...userGroupRecord(teamId, row), id: row[0], token: { keyId, bytes } }
  })
  return page(groups, limit, ({ id }) => id)
}
