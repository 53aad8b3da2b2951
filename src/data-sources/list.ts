import { TextOrNull } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { byAge, PageQuery } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { presentDataSource } from './data-source.ts'
import { DataSourceOut, exampleDataSource } from './schema.ts'

const pages = byAge('data_sources')

export const listDataSources = operation({
  id: 'data_source.list',
  method: 'GET',
  path: '/api/data_sources',
  summary: 'List the data sources of the team, oldest first, without their connections.',
  scope: 'admin',
  query: PageQuery,
  reply: { data_sources: Type.Array(DataSourceOut), next_cursor: TextOrNull },
  errors: [],
  example: {
    query: { limit: '100' },
    reply: { data_sources: [exampleDataSource], next_cursor: null },
  },
  async handle({ query, team }) {
    const { items, next } = await team.dataSources.list(pages.asked(query))
    return { data_sources: items.map(presentDataSource), next_cursor: pages.cursorTo(next) }
  },
})
