import { operation } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { ApiTokenOut, presentApiToken } from './schema.ts'

export const listApiTokens = operation({
  id: 'api_token.list',
  method: 'GET',
  path: '/api/api_tokens',
  summary: 'List the API tokens of the team that are not revoked, newest last. Never a secret.',
  scope: 'admin',
  reply: { api_tokens: Type.Array(ApiTokenOut) },
  errors: [],
  example: {
    reply: {
      api_tokens: [
        {
          id: 185633826219858,
          name: 'ci',
          scopes: ['verify'],
          expires_at: null,
          created_at: '2026-11-15T09:00:00.000Z',
          last_used_at: null,
        },
      ],
    },
  },
  async handle({ team }) {
    const all = await team.apiTokens.list()
    return { api_tokens: all.filter(({ revokedAt }) => revokedAt === null).map(presentApiToken) }
  },
})
