import { given, isText, refuseEmptyPatch } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { sealConnection } from './connection.ts'
import { noDataSource, presentDataSource } from './data-source.ts'
import { DataSourceOut, DataSourcePatch, exampleDataSource } from './schema.ts'

export const updateDataSource = operation({
  id: 'data_source.update',
  method: 'PATCH',
  path: '/api/data_sources/{id}',
  summary: 'Change those fields of a data source that are sent.',
  scope: 'admin',
  body: DataSourcePatch,
  reply: { data_source: DataSourceOut },
  errors: ['not_found', 'conflict'],
  example: {
    id: 'acme-db',
    body: { name: 'Acme warehouse' },
    reply: {
      data_source: { ...exampleDataSource, name: 'Acme warehouse' },
    },
  },
  async handle({ id, body, team, teamId, tokens, clock }) {
    refuseEmptyPatch(body, DataSourcePatch)
    const { provided_id: providedId, schema_id: schemaId, name, kind, connection } = body
    const seal = connection && ((ownId: string) => sealConnection(connection, tokens, teamId, ownId))
    const change = given({ providedId, schemaId, name, kind, connection: seal })
    const source = isText(id) ? await team.dataSources.update(id, change, clock.now()) : undefined
    if (source === undefined) throw noDataSource()
    return { data_source: presentDataSource(source) }
  },
})
