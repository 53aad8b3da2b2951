import { ServiceError } from '../errors.ts'
import { isText } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { exampleRecord, UserGroupRecordOut } from './schema.ts'
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
      user_group: exampleRecord,
    },
  },
  async handle({ id, team }) {
    const group = isText(id) ? await team.userGroups.get(id) : undefined
    if (group === undefined) throw new ServiceError('user_group_not_found')
    return { user_group: presentRecord(group) }
  },
})
