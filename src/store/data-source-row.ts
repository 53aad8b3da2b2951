import type { DataSource } from '../data-sources/data-source.ts'

export type DataSourceRow = [
  id: string,
  providedId: string | null,
  schemaId: string,
  name: string,
  kind: string | null,
  createdAt: number,
  updatedAt: number,
]

export function dataSource([id, providedId, schemaId, name, kind, createdAt, updatedAt]: DataSourceRow): DataSource {
  return { id, providedId, schemaId, name, kind, createdAt, updatedAt }
}
