import { TextOrNull, Time } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { defaultLimit, Limit } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { eventKinds, presentEvent } from './event.ts'

const EventOut = Type.Object(
  {
    id: Type.Integer(),
    at: Time,
    kind: Type.Enum([...eventKinds]),
    api_token: TextOrNull,
    user_group: Type.Optional(Type.String()),
    schema: Type.Optional(Type.String()),
    data_source: Type.Optional(Type.String()),
    api_token_id: Type.Optional(Type.Integer()),
    renamed_to: Type.Optional(Type.String()),
  },
  { title: 'AuditEvent' },
)

const Query = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: '^(0|[1-9]\\d{0,14})$', description: 'the id of an event, or a next_cursor of this list' }),
  ),
  limit: Limit,
})

export const listEvents = operation({
  id: 'event.list',
  method: 'GET',
  path: '/api/events',
  summary: 'Read the audit trail from behind an event: who did what to which thing, when. It holds no secret.',
  scope: 'admin',
  query: Query,
  reply: { events: Type.Array(EventOut), next_cursor: TextOrNull },
  errors: [],
  example: {
    query: { after: '0', limit: '1' },
    reply: {
      events: [
        {
          id: 1,
          at: '2026-11-15T09:00:00.000Z',
          kind: 'user_group.token_rotated',
          api_token: 'ci',
          user_group: 'acme',
        },
      ],
      next_cursor: '1',
    },
  },
  async handle({ query, team }) {
    const limit = Number(query.limit ?? defaultLimit)
    const found = await team.events.after(Number(query.after ?? 0), limit + 1)
    const page = found.slice(0, limit)
    const next = found.length > limit ? String(page.at(-1)?.id) : null
    return { events: page.map(presentEvent), next_cursor: next }
  },
})
