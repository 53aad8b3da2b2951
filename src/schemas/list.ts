import { TextOrNull } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { byAge, PageQuery } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { presentSchema } from './data-schema.ts'
import { exampleSchema, SchemaOut } from './schema.ts'

const pages = byAge('schemas')

export const listSchemas = operation({
  id: 'schema.list',
  method: 'GET',
  path: '/api/schemas',
  summary: 'List the schemas of the team, oldest first.',
  scope: 'admin',
  query: PageQuery,
  reply: { schemas: Type.Array(SchemaOut), next_cursor: TextOrNull },
  errors: [],
  example: {
    query: { limit: '100' },
    reply: { schemas: [exampleSchema], next_cursor: null },
  },
  async handle({ query, team }) {
    const { items, next } = await team.schemas.list(pages.asked(query))
    return { schemas: items.map(presentSchema), next_cursor: pages.cursorTo(next) }
  },
})
