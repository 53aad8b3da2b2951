import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noSchema, presentSchema } from './data-schema.ts'
import { SchemaOut } from './schema.ts'

export const getSchema = operation({
  id: 'schema.get',
  method: 'GET',
  path: '/api/schemas/{id}',
  summary: 'Show one schema.',
  scope: 'admin',
  reply: { schema: SchemaOut },
  errors: ['not_found'],
  example: { id: 'sales', reply: { schema: { id: 'sales', name: 'Sales', created_at: '2026-11-15T09:00:00.000Z' } } },
  async handle({ id, team }) {
    const schema = isText(id) ? await team.schemas.get(id) : undefined
    if (schema === undefined) throw noSchema()
    return { schema: presentSchema(schema) }
  },
})
