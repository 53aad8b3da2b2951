import { operation } from '../http/operation.ts'
import { mintId } from '../tokens/format.ts'
import { sealConnection } from './connection.ts'
import { presentDataSource } from './data-source.ts'
import { DataSourceIn, DataSourceOut, exampleDataSource } from './schema.ts'

export const createDataSource = operation({
  id: 'data_source.create',
  method: 'POST',
  path: '/api/data_sources',
  summary: 'Create a data source. Its connection is stored sealed and never returned.',
  scope: 'admin',
  body: DataSourceIn,
  reply: { data_source: DataSourceOut },
  errors: ['conflict'],
  example: {
    body: {
      schema_id: 'sales',
      provided_id: 'acme-db',
      name: 'Acme DB',
      kind: 'postgres',
      connection: { host: 'db.acme.example', password: 'secret' },
    },
    reply: {
      data_source: exampleDataSource,
    },
  },
  async handle({ body, team, teamId, tokens, clock }) {
    const id = mintId('ds_')
    const source = await team.dataSources.add(
      {
        id,
        providedId: body.provided_id ?? null,
        schemaId: body.schema_id,
        name: body.name ?? body.provided_id ?? id,
        kind: body.kind ?? null,
        connection: body.connection ? sealConnection(body.connection, tokens, teamId, id) : null,
      },
      clock.now(),
    )
    return { data_source: presentDataSource(source) }
  },
})
