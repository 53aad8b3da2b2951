import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noSchema } from './data-schema.ts'

export const deleteSchema = operation({
  id: 'schema.delete',
  method: 'DELETE',
  path: '/api/schemas/{id}',
  summary: 'Delete a schema that no data source belongs to.',
  scope: 'admin',
  reply: {},
  errors: ['not_found', 'conflict'],
  example: { id: 'sales', reply: {} },
  async handle({ id, team, clock }) {
    const deleted = isText(id) && (await team.schemas.delete(id, clock.now()))
    if (!deleted) throw noSchema()
    return {}
  },
})
