import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noDataSource } from './data-source.ts'

export const deleteDataSource = operation({
  id: 'data_source.delete',
  method: 'DELETE',
  path: '/api/data_sources/{id}',
  summary: 'Delete a data source that no user group is mapped to.',
  scope: 'admin',
  reply: {},
  errors: ['not_found', 'conflict'],
  example: { id: 'acme-db', reply: {} },
  async handle({ id, team, clock }) {
    const deleted = isText(id) && (await team.dataSources.delete(id, clock.now()))
    if (!deleted) throw noDataSource()
    return {}
  },
})
