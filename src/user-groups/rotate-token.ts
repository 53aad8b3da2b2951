import { ServiceError } from '../errors.ts'
import { operation } from '../http/operation.ts'
import { RotateIn, UserGroupOut } from './schema.ts'
import { present } from './user-group.ts'

export const rotateToken = operation({
  id: 'user_group.rotate_token',
  method: 'POST',
  path: '/api/user',
  summary: 'Replace the token of a user group. The old one ends at once, or after grace_seconds.',
  scope: 'provision',
  body: RotateIn,
  reply: { user_group: UserGroupOut },
  errors: ['token_not_found', 'token_already_rotated'],
  example: {
    body: { current_token: 'ugt_RxjX3SWaAL0nmBNgyVz7DZjBZ2GvMdnv1SWvDS' },
    reply: {
      user_group: {
        team_id: 1,
        token: 'ugt_7aDOwEcdnlM9YBikjYTcAUCh7A1bKdnU05ZhN4',
        name: 'Acme',
        provided_id: 'acme',
      },
    },
  },
  async handle({ body, team, teamId, tokens, clock }) {
    const current = tokens.lookup(body.current_token)
    if (current === undefined) throw new ServiceError('token_not_found')
    const now = clock.now()
    let fresh = ''
    const seal = (groupId: number) => {
      const { token, sealed } = tokens.mintForUserGroup(teamId, groupId, now)
      fresh = token
      return sealed
    }
    const group = await team.userGroups.replaceToken(current, { seal, graceSeconds: body.grace_seconds ?? 0 }, now)
    return { user_group: present(group, fresh) }
  },
})
