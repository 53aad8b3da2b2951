import { isoTime } from '../clock.ts'
import { ServiceError } from '../errors.ts'
import type { Sealed } from '../tokens/key-ring.ts'

/** What a schema's id maps to for a user group: one customer's database, say. */
export interface DataSource {
  id: string
  providedId: string | null
  schemaId: string
  name: string
  kind: string | null
  createdAt: number
  updatedAt: number
}

export interface NewDataSource extends Omit<DataSource, 'createdAt' | 'updatedAt'> {
  connection: Sealed | null
}

export interface DataSourceChange {
  providedId?: string
  schemaId?: string
  name?: string
  kind?: string
  /** Called with the data source's own id, which a seal is bound to. */
  connection?: (id: string) => Sealed
}

export function noDataSource(): ServiceError {
  return new ServiceError('not_found', { message: 'This team has no data source with that id.' })
}

export function presentDataSource(source: DataSource) {
  return {
    id: source.id,
    provided_id: source.providedId,
    schema_id: source.schemaId,
    name: source.name,
    kind: source.kind,
    created_at: isoTime(source.createdAt),
    updated_at: isoTime(source.updatedAt),
  }
}
