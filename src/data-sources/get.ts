import { isPossibleId } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noDataSource } from './data-source.ts'
import { DataSourceOut, presentDataSource } from './schema.ts'

export const getDataSource = operation({
  id: 'data_source.get',
  method: 'GET',
  path: '/api/data_sources/{id}',
  summary: 'Show one data source, found by its id or its provided_id, without its connection.',
  scope: 'admin',
  reply: { data_source: DataSourceOut },
  errors: ['not_found'],
  example: {
    id: 'acme-db',
    reply: {
      data_source: {
        id: 'ds_bKBVf5bLAuXDIPXQtkHY',
        provided_id: 'acme-db',
        schema_id: 'sales',
        name: 'Acme DB',
        kind: 'postgres',
        created_at: '2026-11-15T09:00:00.000Z',
        updated_at: '2026-11-15T09:00:00.000Z',
      },
    },
  },
  async handle({ id, team }) {
    const source = isPossibleId(id) ? await team.dataSources.get(id) : undefined
    if (source === undefined) throw noDataSource()
    return { data_source: presentDataSource(source) }
  },
})
