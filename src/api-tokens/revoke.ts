import { ServiceError } from '../errors.ts'
import { operation } from '../http/operation.ts'

export const revokeApiToken = operation({
  id: 'api_token.revoke',
  method: 'DELETE',
  path: '/api/api_tokens/{id}',
  summary: 'Revoke an API token, even that of this call, but not the last one with the scope admin.',
  scope: 'admin',
  reply: {},
  errors: ['not_found', 'conflict'],
  example: { id: '185633826219858', reply: {} },
  async handle({ id, team, clock }) {
    const isId = /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id))
    const revoked = isId ? await team.apiTokens.revoke(Number(id), clock.now(), 'keep') : undefined
    if (revoked === undefined)
      throw new ServiceError('not_found', { message: 'This team has no API token with that id.' })
    return {}
  },
})
