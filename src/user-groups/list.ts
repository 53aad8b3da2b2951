import { given, Text, TextOrNull } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { byId, PageQuery } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { exampleRecord, UserGroupRecordOut } from './schema.ts'
import { presentRecord } from './user-group.ts'

const pages = byId('user_groups')

export const listUserGroups = operation({
  id: 'user_group.list',
  method: 'GET',
  path: '/api/user_groups',
  summary: 'List the user groups, oldest first, without their tokens.',
  description: 'q is how the id or the name begins. A page of large groups may be short without being the last.',
  scope: 'provision',
  query: Type.Object({ ...PageQuery.properties, q: Type.Optional(Text) }),
  reply: { user_groups: Type.Array(UserGroupRecordOut), next_cursor: TextOrNull },
  errors: [],
  example: {
    query: { limit: '100', q: 'ac' },
    reply: {
      user_groups: [exampleRecord],
      next_cursor: null,
    },
  },
  async handle({ query, team }) {
    const { items, next } = await team.userGroups.list({ ...pages.asked(query), ...given({ prefix: query.q }) })
    return { user_groups: items.map(presentRecord), next_cursor: pages.cursorTo(next) }
  },
})
