import { ServiceError } from '../errors.ts'
import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'

export const deleteUserGroup = operation({
  id: 'user_group.delete',
  method: 'DELETE',
  path: '/api/user_groups/{provided_id}',
  summary: 'Delete a user group and its tokens, former ones too.',
  scope: 'provision',
  reply: {},
  errors: ['user_group_not_found'],
  example: { id: 'acme', reply: {} },
  async handle({ id, team, clock }) {
    const deleted = isText(id) && (await team.userGroups.delete(id, clock.now()))
    if (!deleted) throw new ServiceError('user_group_not_found')
    return {}
  },
})
