import { ServiceError } from '../errors.ts'
import { given, isText, refuseEmptyPatch } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { keepableJson } from '../json.ts'
import { exampleRecord, UpdateIn, UserGroupRecordOut } from './schema.ts'
import { presentRecord } from './user-group.ts'

export const updateUserGroup = operation({
  id: 'user_group.update',
  method: 'PATCH',
  path: '/api/user_groups/{provided_id}',
  summary: 'Change those fields of a user group that are sent.',
  description: 'A new provided_id keeps the token. The token of a disabled group does not verify.',
  scope: 'provision',
  body: UpdateIn,
  reply: { user_group: UserGroupRecordOut },
  errors: ['user_group_not_found', 'unknown_data_source', 'conflict'],
  example: {
    id: 'acme',
    body: { name: 'Acme Inc.' },
    reply: {
      user_group: { ...exampleRecord, name: 'Acme Inc.', token_rotated_at: exampleRecord.updated_at },
    },
  },
  async handle({ id, body, team, clock }) {
    refuseEmptyPatch(body, UpdateIn)
    const { provided_id: providedId, name, mapping, disabled } = body
    const properties = body.properties && keepableJson(body.properties, 'properties')
    const change = given({ providedId, name, mapping, properties, disabled })
    const group = isText(id) ? await team.userGroups.update(id, change, clock.now()) : undefined
    if (group === undefined) throw new ServiceError('user_group_not_found')
    return { user_group: presentRecord(group) }
  },
})
