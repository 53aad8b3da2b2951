import { ServiceError } from '../errors.ts'
import { isPossibleId } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { UserGroupRecordOut } from './schema.ts'
import { presentRecord } from './user-group.ts'

export const getUserGroup = operation({
  id: 'user_group.get',
  method: 'GET',
  path: '/api/user_groups/{provided_id}',
  summary: 'Show one user group, without its token.',
  scope: 'provision',
  reply: { user_group: UserGroupRecordOut },
  errors: ['user_group_not_found'],
  example: {
    id: 'acme',
    reply: {
      user_group: {
        team_id: 1,
        name: 'Acme',
        provided_id: 'acme',
        mapping: { sales: 'acme-db' },
        properties: { region: 'eu' },
        disabled: false,
        created_at: '2026-11-15T09:00:00.000Z',
        updated_at: '2026-11-15T09:00:00.000Z',
        token_rotated_at: null,
      },
    },
  },
  async handle({ id, team }) {
    const group = isPossibleId(id) ? await team.userGroups.get(id) : undefined
    if (group === undefined) throw new ServiceError('user_group_not_found')
    return { user_group: presentRecord(group) }
  },
})
