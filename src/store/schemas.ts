import { ServiceError } from '../errors.ts'
import type { DataSchema } from '../schemas/data-schema.ts'
import { fragment, run, sql, type TeamDatabase } from './database.ts'
import { type Actor, record, takeTurn } from './events.ts'
import { ageOf, page } from './page.ts'
import type { Age, Page, PageQuery, Schemas } from './store.ts'

type SchemaRow = [id: string, name: string, createdAt: number]

const columns = fragment`id, name, created_at`

const insertUnlessThere = sql<SchemaRow>`
  insert into data_schema (team_id, id, name, created_at) values ($1, $2, $3, $4)
  on conflict do nothing
  returning ${columns}`
const listAfter = sql<SchemaRow>`
  select ${columns} from data_schema
  where team_id = $1 and (created_at, id) > ($2, $3) order by created_at, id limit $4`
const byId = sql<SchemaRow>`select ${columns} from data_schema where team_id = $1 and id = $2`
const countUses = sql<[count: number]>`select count(*) from data_source where team_id = $1 and schema_id = $2`
const deleteSchema = sql<[name: string]>`delete from data_schema where team_id = $1 and id = $2 returning name`

export class SchemaStore implements Schemas {
  readonly #database: TeamDatabase
  readonly #actor: Actor

  constructor(database: TeamDatabase, actor: Actor) {
    this.#database = database
    this.#actor = actor
  }

  add({ id, name }: Omit<DataSchema, 'createdAt'>, now: number): Promise<DataSchema> {
    const actor = this.#actor
    return this.#database.write(function* () {
      const [row] = yield* run(insertUnlessThere, actor.teamId, id, name, now)
      if (row === undefined)
        throw new ServiceError('conflict', { field: 'id', message: 'This team has a schema with that id already.' })
      yield* record(actor, 'schema.created', id, now, { name })
      return schema(row)
    }, 'once')
  }

  async list({ after, limit }: PageQuery<Age>): Promise<Page<DataSchema, Age>> {
    const rows = await this.#database.read(listAfter, this.#actor.teamId, after.createdAt, after.id, limit + 1)
    return page(rows.map(schema), limit, ageOf)
  }

  async get(id: string): Promise<DataSchema | undefined> {
    const [row] = await this.#database.read(byId, this.#actor.teamId, id)
    return row && schema(row)
  }

  delete(id: string, now: number): Promise<boolean> {
    const actor = this.#actor
    return this.#database.write(function* () {
      yield* takeTurn(actor.teamId)
      const [uses] = yield* run(countUses, actor.teamId, id)
      const count = uses?.[0] ?? 0
      if (count > 0)
        throw new ServiceError('conflict', {
          message: `${count} data ${count === 1 ? 'source belongs' : 'sources belong'} to this schema; delete or move what belongs to it first.`,
        })
      const [deleted] = yield* run(deleteSchema, actor.teamId, id)
      if (deleted === undefined) return false
      yield* record(actor, 'schema.deleted', id, now, { name: deleted[0] })
      return true
    }, 'once')
  }
}

function schema([id, name, createdAt]: SchemaRow): DataSchema {
  return { id, name, createdAt }
}
