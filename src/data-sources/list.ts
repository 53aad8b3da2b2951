import Type from 'typebox'
import { operation } from '../http/operation.ts'
import { DataSourceOut, presentDataSource } from './schema.ts'

export const listDataSources = operation({
  id: 'data_source.list',
  method: 'GET',
  path: '/api/data_sources',
  summary: 'List the data sources of the team, newest last, without their connections.',
  scope: 'admin',
  reply: { data_sources: Type.Array(DataSourceOut) },
  errors: [],
  example: {
    reply: {
      data_sources: [
        {
          id: 'ds_bKBVf5bLAuXDIPXQtkHY',
          provided_id: 'acme-db',
          schema_id: 'sales',
          name: 'Acme DB',
          kind: 'postgres',
          created_at: '2026-11-15T09:00:00.000Z',
          updated_at: '2026-11-15T09:00:00.000Z',
        },
      ],
    },
  },
  async handle({ team }) {
    return { data_sources: (await team.dataSources.list()).map(presentDataSource) }
  },
})
