import { TextOrNull } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { byId, PageQuery } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { presentApiToken } from './api-token.ts'
import { ApiTokenOut, exampleApiToken } from './schema.ts'

const pages = byId('api_tokens')

export const listApiTokens = operation({
  id: 'api_token.list',
  method: 'GET',
  path: '/api/api_tokens',
  summary: 'List the API tokens of the team that are not revoked, oldest first, without their secrets.',
  scope: 'admin',
  query: PageQuery,
  reply: { api_tokens: Type.Array(ApiTokenOut), next_cursor: TextOrNull },
  errors: [],
  example: {
    query: { limit: '100' },
    reply: { api_tokens: [exampleApiToken], next_cursor: null },
  },
  async handle({ query, team }) {
    const { items, next } = await team.apiTokens.list(pages.asked(query))
    return { api_tokens: items.map(presentApiToken), next_cursor: pages.cursorTo(next) }
  },
})
