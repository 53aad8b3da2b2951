import type { DataSource, DataSourceChange, NewDataSource } from '../data-sources/data-source.ts'
import { ServiceError } from '../errors.ts'
import type { EventDetail } from '../events/event.ts'
import { withoutTokens } from '../tokens/format.ts'
import { type DataSourceRow, dataSource, dataSourceColumns } from './data-source-row.ts'
import { run, sql, type TeamDatabase, UniqueViolation, type Work } from './database.ts'
import { type Actor, fieldsOf, record, takeTurn } from './events.ts'
import { ageOf, page } from './page.ts'
import type { Age, DataSources, Page, PageQuery } from './store.ts'

const schemaExists = sql<[id: string]>`select id from data_schema where team_id = $1 and id = $2`
const insertUnlessThere = sql<DataSourceRow>`
  insert into data_source (id, team_id, schema_id, provided_id, name, kind, created_at, updated_at, connection_key,
    connection_sealed)
  values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9)
  on conflict do nothing
  returning ${dataSourceColumns}`
const listAfter = sql<DataSourceRow>`
  select ${dataSourceColumns} from data_source
  where team_id = $1 and (created_at, id) > ($2, $3) order by created_at, id limit $4`
// A caller's own id never begins with ds_, so that each value names one data source at most.
const byEitherId = sql<DataSourceRow>`
  select ${dataSourceColumns} from data_source
  where team_id = $1 and (id = $2 or provided_id = $2)`
const update = sql<DataSourceRow>`
  update data_source set
    provided_id = coalesce($3, provided_id),
    schema_id = coalesce($4, schema_id),
    name = coalesce($5, name),
    kind = coalesce($6, kind),
    connection_key = coalesce($7, connection_key),
    connection_sealed = coalesce($8, connection_sealed),
    updated_at = $9
  where team_id = $1 and id = $2
  returning ${dataSourceColumns}`
const deleteSource = sql<[id: string]>`delete from data_source where team_id = $1 and id = $2 returning id`
const countUses = sql<[count: number]>`
  select count(distinct user_group_id) from mapping_entry where team_id = $1 and data_source in ($2, $3)`
const someUses = sql<[providedId: string]>`
  select distinct g.provided_id from mapping_entry m join user_group g on g.id = m.user_group_id
  where m.team_id = $1 and m.data_source in ($2, $3) limit 3`

export class DataSourceStore implements DataSources {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  add(source: NewDataSource, now: number): Promise<DataSource> {
    const actor = this.#actor
    const { id, schemaId, providedId, name, kind, connection } = source
    return this.#database.write(function* () {
      yield* takeTurn(actor.teamId)
      yield* requireSchema(actor.teamId, schemaId)
      const [row] = yield* run(
        insertUnlessThere,
        ...[id, actor.teamId, schemaId, providedId, name, kind, now, connection?.keyId ?? null],
        connection?.bytes ?? null,
      )
      if (row === undefined) throw idTaken()
      yield* record(actor, 'data_source.created', id, now, detailOf(source))
      return dataSource(row)
    }, 'once')
  }

  async list({ after, limit }: PageQuery<Age>): Promise<Page<DataSource, Age>> {
    const rows = await this.#database.read(listAfter, this.#actor.teamId, after.createdAt, after.id, limit + 1)
    return page(rows.map(dataSource), limit, ageOf)
  }

  async get(id: string): Promise<DataSource | undefined> {
    const [row] = await this.#database.read(byEitherId, this.#actor.teamId, id)
    return row && dataSource(row)
  }

  async update(id: string, change: DataSourceChange, now: number): Promise<DataSource | undefined> {
    const actor = this.#actor
    const { teamId } = actor
    const { providedId, schemaId, name, kind } = change
    try {
      return await this.#database.write(function* () {
        yield* takeTurn(teamId)
        const [there] = yield* run(byEitherId, teamId, id)
        if (there === undefined) return undefined
        const { id: ownId, providedId: old } = dataSource(there)
        if (schemaId !== undefined) yield* requireSchema(teamId, schemaId)
        if (providedId !== undefined && old !== null && providedId !== old) yield* refuseInUse(teamId, old, old)
        const connection = change.connection?.(ownId)
        const [row] = yield* run(
          update,
          ...[teamId, ownId, providedId ?? null, schemaId ?? null, name ?? null, kind ?? null],
          ...[connection?.keyId ?? null, connection?.bytes ?? null, now],
        )
        if (row === undefined) return undefined
        const updated = dataSource(row)
        const detail = detailOf({ ...updated, providedId: old ?? updated.providedId })
        const renamedTo = old === updated.providedId || old === null ? null : updated.providedId
        yield* record(actor, 'data_source.updated', ownId, now, { fields: fieldsOf(change), ...detail }, renamedTo)
        return updated
      }, 'once')
    } catch (error) {
      throw error instanceof UniqueViolation ? idTaken() : error
    }
  }

  delete(id: string, now: number): Promise<boolean> {
    const actor = this.#actor
    const { teamId } = actor
    return this.#database.write(function* () {
      yield* takeTurn(teamId)
      const [there] = yield* run(byEitherId, teamId, id)
      if (there === undefined) return false
      const source = dataSource(there)
      yield* refuseInUse(teamId, source.id, source.providedId ?? source.id)
      const deleted = yield* run(deleteSource, teamId, source.id)
      if (deleted.length === 0) return false
      yield* record(actor, 'data_source.deleted', source.id, now, detailOf(source))
      return true
    }, 'once')
  }
}

function detailOf({ providedId, name }: Pick<DataSource, 'providedId' | 'name'>): EventDetail {
  return { name, ...(providedId !== null && { provided_id: providedId }) }
}

function* requireSchema(teamId: number, schemaId: string): Work<void> {
  const known = yield* run(schemaExists, teamId, schemaId)
  if (known.length === 0)
    throw new ServiceError('invalid_request', {
      field: 'schema_id',
      message: 'schema_id names no schema of this team; create it first, or correct the id.',
    })
}

function* refuseInUse(teamId: number, id: string, providedId: string): Work<void> {
  const [uses] = yield* run(countUses, teamId, id, providedId)
  const count = uses?.[0] ?? 0
  if (count === 0) return
  const some = yield* run(someUses, teamId, id, providedId)
  const names = some.map(([name]) => JSON.stringify(withoutTokens(name))).join(', ')
  const groups = `${count} user ${count === 1 ? 'group is' : 'groups are'} mapped to this data source`
  throw new ServiceError('conflict', {
    message: `${groups}${count > some.length ? ', such as' : ':'} ${names}; change the mapping first.`,
  })
}

function idTaken(): ServiceError {
  return new ServiceError('conflict', {
    field: 'provided_id',
    message: 'This team has a data source with that provided_id already.',
  })
}
