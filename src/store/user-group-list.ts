import { parseJson } from '../json.ts'
import type { Mapping, Properties, UserGroupRecord } from '../user-groups/user-group.ts'
import type { TeamDatabase } from './database.ts'
import type { ListQuery, Page } from './store.ts'
import * as statements from './user-group-statements.ts'

/** Up to here the matches of a prefix are collected by the indexes and sorted; beyond, the list itself is walked. */
const few = 2_000
const stretch = 10_000

const mostText = 64 * 1024

/** A page in the order the groups were made, so that those made or deleted meanwhile shift nothing. */
export async function listUserGroups(
  database: TeamDatabase,
  teamId: number,
  query: ListQuery,
): Promise<Page<UserGroupRecord>> {
  // One more than asked for tells whether there is another page.
  const asked = { ...query, limit: query.limit + 1 }
  const rows =
    query.prefix === undefined
      ? await database.read(statements.listAfter, teamId, asked.after, asked.limit)
      : await listByPrefix(database, teamId, asked, query.prefix)
  const page = rows.slice(0, Math.min(query.limit, fitting(rows)))
  return {
    items: page.map((row) => userGroupRecord(teamId, row)),
    next: rows.length > page.length ? (page.at(-1)?.[0] ?? null) : null,
  }
}

/** How many of the first fill a page: large ones, but the first, wait for the next, so that no answer becomes large. */
function fitting(rows: readonly statements.RecordRow[]): number {
  let text = 0
  const beyond = rows.findIndex(([, , , mapping, properties]) => {
    text += mapping.length + properties.length
    return text > mostText
  })
  return beyond === -1 ? rows.length : Math.max(1, beyond)
}

/**
 * Few matches are found by the indexes and sorted by age. Of many, a page is soon full by walking the list in its
 * own order, a stretch at a time, so that no single look takes long whatever the number of groups.
 */
async function listByPrefix(database: TeamDatabase, teamId: number, { after, limit }: ListQuery, prefix: string) {
  const from = asciiLowerCase(prefix)
  const to = behindPrefix(from)
  const [count] = await database.read(statements.countPrefix, teamId, from, to, few)
  if ((count?.[0] ?? 0) < few) return database.read(statements.listFewByPrefix, teamId, from, to, after, limit)
  const found: statements.RecordRow[] = []
  for (let last = after; found.length < limit; ) {
    // Its end comes first: sought behind the look, it would be further on by as many groups as are deleted meanwhile.
    const [[end, length] = [null, 0]] = await database.read(statements.endOfStretch, teamId, last, stretch)
    if (end === null) break
    const left = limit - found.length
    found.push(...(await database.read(statements.listStretchByPrefix, teamId, from, to, last, end, left)))
    if (length < stretch) break
    last = end
  }
  return found
}

function asciiLowerCase(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase())
}

/** Behind all that begin with `prefix`, byte by byte: they are 255 characters at most, and none is above U+10FFFF. */
function behindPrefix(prefix: string): string {
  return prefix + '\u{10ffff}'.repeat(256)
}

export function userGroupRecord(teamId: number, row: statements.RecordRow): UserGroupRecord {
  const [, providedId, name, mapping, properties, disabled, createdAt, updatedAt, tokenRotatedAt] = row
  return {
    teamId,
    providedId,
    name,
    mapping: parseJson(mapping) as Mapping,
    properties: parseJson(properties) as Properties,
    disabled: disabled === 1,
    createdAt,
    updatedAt,
    tokenRotatedAt,
  }
}
