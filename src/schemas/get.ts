import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { noSchema, presentSchema } from './data-schema.ts'
import { exampleSchema, SchemaOut } from './schema.ts'

export const getSchema = operation({
  id: 'schema.get',
  method: 'GET',
  path: '/api/schemas/{id}',
  summary: 'Show one schema.',
  scope: 'admin',
  reply: { schema: SchemaOut },
  errors: ['not_found'],
  example: { id: 'sales', reply: { schema: exampleSchema } },
  async handle({ id, team }) {
    const schema = isText(id) ? await team.schemas.get(id) : undefined
    if (schema === undefined) throw noSchema()
    return { schema: presentSchema(schema) }
  },
})
