import { operation } from '../http/operation.ts'
import { mintId } from '../tokens/format.ts'
import { presentSchema } from './data-schema.ts'
import { exampleSchema, SchemaIn, SchemaOut } from './schema.ts'

export const createSchema = operation({
  id: 'schema.create',
  method: 'POST',
  path: '/api/schemas',
  summary: 'Create a schema, with an id of your choice or a made one.',
  scope: 'admin',
  body: SchemaIn,
  reply: { schema: SchemaOut },
  errors: ['conflict'],
  example: {
    body: { id: 'sales', name: 'Sales' },
    reply: { schema: exampleSchema },
  },
  async handle({ body, team, clock }) {
    const id = body.id ?? mintId('sch_')
    return { schema: presentSchema(await team.schemas.add({ id, name: body.name ?? id }, clock.now())) }
  },
})
