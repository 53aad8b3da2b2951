import { invalid } from '../errors.ts'
import { parseTime } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { newId } from '../ids.ts'
import { ApiTokenIn, FreshApiTokenOut, presentApiToken } from './schema.ts'

export const createApiToken = operation({
  id: 'api_token.create',
  method: 'POST',
  path: '/api/api_tokens',
  summary: 'Create an API token of the team; its secret is in this answer and in no other.',
  scope: 'admin',
  body: ApiTokenIn,
  reply: { api_token: FreshApiTokenOut },
  errors: [],
  async handle({ body, team, tokens, clock }) {
    const now = clock.now()
    const expiresAt = body.expires_at == null ? null : parseTime(body.expires_at, 'expires_at')
    if (expiresAt !== null && expiresAt <= now) throw invalid('expires_at', 'must be a time in the future, or null')
    const secret = tokens.mintForApi()
    const made = { id: newId(now), name: body.name, scopes: body.scopes, expiresAt }
    await team.apiTokens.add({ ...made, hash: tokens.hash(secret) }, now)
    const shown = presentApiToken({ ...made, createdAt: now, revokedAt: null, lastUsedAt: null })
    return { api_token: { ...shown, token: secret } }
  },
})
