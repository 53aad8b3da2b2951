import { operation } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { DataSourceOut, exampleDataSource, presentDataSource } from './schema.ts'

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
      data_sources: [exampleDataSource],
    },
  },
  async handle({ team }) {
    return { data_sources: (await team.dataSources.list()).map(presentDataSource) }
  },
})
