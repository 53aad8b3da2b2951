import { invalid } from '../errors.ts'
import { defaultLimit, TextOrNull } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { Type } from '../http/type.ts'
import { exampleRecord, ListQuery, UserGroupRecordOut } from './schema.ts'
import { presentRecord } from './user-group.ts'

export const listUserGroups = operation({
  id: 'user_group.list',
  method: 'GET',
  path: '/api/user_groups',
  summary:
    'List the user groups, newest last, large ones on shorter pages; q: how their id or name begins. Never a token.',
  scope: 'provision',
  query: ListQuery,
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
    const { items, next } = await team.userGroups.list({
      after: query.cursor === undefined ? 0 : parseCursor(query.cursor),
      limit: Number(query.limit ?? defaultLimit),
      ...(query.q === undefined ? {} : { prefix: query.q }),
    })
    return { user_groups: items.map(presentRecord), next_cursor: next === null ? null : cursor(next) }
  },
})

function cursor(position: number): string {
  return Buffer.from(`after ${position}`).toString('base64url')
}

function parseCursor(text: string): number {
  const position = /^after (\d{1,16})$/.exec(Buffer.from(text, 'base64url').toString())?.[1]
  if (position === undefined || cursor(Number(position)) !== text)
    throw invalid('cursor', 'must be a next_cursor of this list')
  return Number(position)
}
