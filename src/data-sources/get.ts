import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noDataSource, presentDataSource } from './data-source.ts'
import { DataSourceOut, exampleDataSource } from './schema.ts'

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
      data_source: exampleDataSource,
    },
  },
  async handle({ id, team }) {
    const source = isText(id) ? await team.dataSources.get(id) : undefined
    if (source === undefined) throw noDataSource()
    return { data_source: presentDataSource(source) }
  },
})
