import type { DataSource } from '../data-sources/data-source.ts'
import { ServiceError } from '../errors.ts'
import { fieldPath } from '../json.ts'
import type { Mapping } from '../user-groups/user-group.ts'
import { type DataSourceRow, dataSource } from './data-source-row.ts'
import { run, sql, type Value, type Work } from './database.ts'
import { takeTurn } from './events.ts'
import { manyRows, runMany } from './many-rows.ts'

// A key of a mapping may be any string, which no engine stores: as JSON it still tells the entries of a group apart.
const insertEntries = manyRows(
  'insert into mapping_entry (team_id, data_source, user_group_id, schema_id) values',
  '($1, ?, ?, ?)',
  '',
)
const deleteEntries = sql`delete from mapping_entry where user_group_id = $1`
const strictness = sql<[strict: number]>`select strict_mapping from team where id = $1`

const askedAtOnce = 8
const idsThere = sql<[id: string, providedId: string | null]>`
  select id, provided_id from data_source
  where team_id = $1 and (id in ($2, $3, $4, $5, $6, $7, $8, $9) or provided_id in ($2, $3, $4, $5, $6, $7, $8, $9))`

/** Keeps the entries of a group's mapping in step with the mapping itself, and a strict team to what exists. */
export function* replaceEntries(teamId: number, groupId: number, mapping: Mapping): Work<void> {
  yield* run(deleteEntries, groupId)
  yield* addEntries(teamId, groupId, mapping)
}

export function* addEntries(teamId: number, groupId: number, mapping: Mapping): Work<void> {
  if (Object.keys(mapping).length === 0) return
  const [refusal] = yield* mappingRefusals(teamId, [mapping], 'to the commit')
  if (refusal !== undefined) throw refusal
  yield* addManyEntries(teamId, [{ id: groupId, mapping }])
}

/**
 * For each mapping of a strict team why it is refused, or undefined; nothing for a team that is not strict. To stay so to
 * the commit it takes the team's turn, as all do behind the last group that they lock: else two would deadlock.
 */
export function* mappingRefusals(
  teamId: number,
  mappings: readonly Mapping[],
  holds: 'for now' | 'to the commit',
): Work<readonly (ServiceError | undefined)[]> {
  const values = new Set(mappings.flatMap((mapping) => Object.values(mapping)))
  if (values.size === 0) return []
  const [strict] = yield* run(strictness, teamId)
  if (strict?.[0] !== 1) return []
  if (holds === 'to the commit') yield* takeTurn(teamId)
  const known = yield* knownIds(teamId, [...values])
  return mappings.map((mapping) => {
    const unknown = Object.entries(mapping).find(([, value]) => !known.has(value))
    return unknown && unknownSource(unknown[0])
  })
}

function unknownSource(schemaId: string): ServiceError {
  const field = fieldPath(['mapping', schemaId])
  return new ServiceError('unknown_data_source', {
    field,
    message: `${field} names no data source of this team; create it first, or correct the id.`,
  })
}

/** Both ids of each data source that one of the values names. */
function* knownIds(teamId: number, values: readonly string[]): Work<ReadonlySet<string | null>> {
  const wanted = values.filter(isStorable)
  const known = new Set<string | null>()
  for (let at = 0; at < wanted.length; at += askedAtOnce) {
    const some: Value[] = wanted.slice(at, at + askedAtOnce)
    while (some.length < askedAtOnce) some.push(null)
    for (const ids of yield* run(idsThere, teamId, ...some)) for (const id of ids) known.add(id)
  }
  return known
}

export function* addManyEntries(teamId: number, groups: readonly { id: number; mapping: Mapping }[]): Work<void> {
  const entries = groups.flatMap(({ id, mapping }) =>
    Object.entries(mapping)
      .filter(([, value]) => isStorable(value))
      .map(([schemaId, value]) => [value, id, JSON.stringify(schemaId)]),
  )
  yield* runMany(insertEntries, [teamId], entries)
}

/** The data sources a mapping leads to, by schema id. What leads nowhere is left out: nothing takes its place. */
export function resolved(mapping: Mapping, rows: readonly DataSourceRow[]): ReadonlyMap<string, DataSource> {
  const found = new Map<string, DataSource>()
  for (const source of rows.map(dataSource)) {
    found.set(source.id, source)
    if (source.providedId !== null) found.set(source.providedId, source)
  }
  const sources = new Map<string, DataSource>()
  for (const [schemaId, value] of Object.entries(mapping)) {
    const source = found.get(value)
    if (source !== undefined) sources.set(schemaId, source)
  }
  return sources
}

/** A mapping may hold any string; one that no engine stores as text is the id of no data source either. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
