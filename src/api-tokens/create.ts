import { invalid } from '../errors.ts'
import { parseTime } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { presentApiToken } from './api-token.ts'
import { issueApiToken } from './issue.ts'
import { ApiTokenIn, exampleApiToken, FreshApiTokenOut } from './schema.ts'

export const createApiToken = operation({
  id: 'api_token.create',
  method: 'POST',
  path: '/api/api_tokens',
  summary: 'Create an API token of the team. Its secret is in this answer and in no other.',
  scope: 'admin',
  body: ApiTokenIn,
  reply: { api_token: FreshApiTokenOut },
  errors: [],
  example: {
    body: { name: 'ci', scopes: ['verify'], expires_at: null },
    reply: { api_token: { ...exampleApiToken, token: 'uga_QMLeDzsx18ta6sz0EFqI9D2YXskh0upA0ZdNk0' } },
  },
  async handle({ body, team, tokens, clock }) {
    const now = clock.now()
    const expiresAt = body.expires_at == null ? null : parseTime(body.expires_at, 'expires_at')
    if (expiresAt !== null && expiresAt <= now) throw invalid('expires_at', 'must be a time in the future, or null')
    const wish = { name: body.name, scopes: body.scopes, expiresAt }
    const { token, secret } = await issueApiToken(wish, tokens, now, (made) => team.apiTokens.add(made, now))
    return { api_token: { ...presentApiToken(token), token: secret } }
  },
})
