import { operation } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { presentSchema, SchemaOut } from './schema.ts'

export const listSchemas = operation({
  id: 'schema.list',
  method: 'GET',
  path: '/api/schemas',
  summary: 'List the schemas of the team, newest last.',
  scope: 'admin',
  reply: { schemas: Type.Array(SchemaOut) },
  errors: [],
  example: { reply: { schemas: [{ id: 'sales', name: 'Sales', created_at: '2026-11-15T09:00:00.000Z' }] } },
  async handle({ team }) {
    return { schemas: (await team.schemas.list()).map(presentSchema) }
  },
})
