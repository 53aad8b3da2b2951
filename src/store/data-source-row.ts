import type { DataSource } from '../data-sources/data-source.ts'
import { fragment } from './database.ts'

export type DataSourceRow = [
  id: string,
  providedId: string | null,
  schemaId: string,
  name: string,
  kind: string | null,
  createdAt: number,
  updatedAt: number,
]

export const dataSourceColumns = fragment`id, provided_id, schema_id, name, kind, created_at, updated_at`

export function dataSource([id, providedId, schemaId, name, kind, createdAt, updatedAt]: DataSourceRow): DataSource {
  return { id, providedId, schemaId, name, kind, createdAt, updatedAt }
}
