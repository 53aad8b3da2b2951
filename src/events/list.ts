import { Text, TextOrNull, Time, wholeNumber } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { defaultLimit, Limit } from '../http/paging.ts'
import { Type } from '../http/type.ts'
import { eventKinds, presentEvent } from './event.ts'

const EventOut = Type.Object(
  {
    id: Type.Integer({ description: 'counts up by one within the team' }),
    at: Type.String({ ...Time, description: 'when it happened' }),
    kind: Type.Enum([...eventKinds], { description: `what was done to what: ${eventKinds.join(', ')}` }),
    api_token: Type.Unsafe<string | null>({
      ...TextOrNull,
      description: 'the API token that did it, by its name then; null for a command at the terminal',
    }),
    user_group: told('the user group it was done to, by its id then'),
    schema: told('the schema it was done to, by its id'),
    data_source: told('the data source it was done to, by its id'),
    api_token_id: Type.Optional(Type.Integer({ description: 'the API token it was done to, by its id' })),
    renamed_to: told('the new id of the user group, or the new provided_id of the data source, where it got another'),
    by_api_token_id: Type.Optional(
      Type.Integer({ description: 'the API token that did it, by its id; older events lack it' }),
    ),
    fields: Type.Optional(
      Type.Array(Type.String(), { description: 'what a change set, whether it was different before or not' }),
    ),
    disabled: Type.Optional(
      Type.Boolean({ description: 'of a user group that was disabled, made so, or enabled again' }),
    ),
    grace_seconds: Type.Optional(
      Type.Integer({ description: 'of a rotation: how long the old token stayed valid, if it did' }),
    ),
    strict_mapping: Type.Optional(Type.Boolean({ description: 'what it was set to, where the team changed it' })),
    name: told('the name of the schema, data source or API token'),
    provided_id: told('of a data source that has one; the former one, where it got another'),
    scopes: Type.Optional(Type.Array(Type.String(), { description: 'of an API token' })),
  },
  { title: 'AuditEvent' },
)

function told(description: string) {
  return Type.Optional(Type.String({ description }))
}

const Query = Type.Object({
  after: wholeNumber({
    ...{ minimum: 0, maximum: 999_999_999_999_999 },
    pattern: '^(0|[1-9]\\d{0,14})$',
    description: 'the id of an event, or a next_cursor of this list',
  }),
  limit: Limit,
  order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'asc, or desc for the newest first' })),
  user_group: Type.Optional(
    Type.String({ ...Text, description: 'the id of a user group, then or since that event: 1 to 255 characters' }),
  ),
  kind: Type.Optional(Type.Enum([...eventKinds], { description: `one of ${eventKinds.join(', ')}` })),
  by_api_token_id: wholeNumber({
    // No id is greater before the year 2163.
    ...{ minimum: 1, maximum: 8_999_999_999_999_999 },
    pattern: '^([1-9]\\d{0,14}|[1-8]\\d{15})$',
    description: 'the id of an API token, to find what it did',
  }),
})

export const listEvents = operation({
  id: 'event.list',
  method: 'GET',
  path: '/api/events',
  summary: 'Read the audit trail: who did what, to what, and when. It holds no secret.',
  description:
    'A page of a filtered list may be short, or empty, without being the last: that is the one whose next_cursor is null.',
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
          by_api_token_id: 1,
          user_group: 'acme',
        },
      ],
      next_cursor: '1',
    },
  },
  async handle({ query, team }) {
    const { items, next } = await team.events.list({
      limit: Number(query.limit ?? defaultLimit),
      ...(query.after !== undefined && { after: Number(query.after) }),
      ...(query.order !== undefined && { order: query.order }),
      ...(query.user_group !== undefined && { userGroup: query.user_group }),
      ...(query.kind !== undefined && { kind: query.kind }),
      ...(query.by_api_token_id !== undefined && { apiTokenId: Number(query.by_api_token_id) }),
    })
    return { events: items.map(presentEvent), next_cursor: next === null ? null : String(next) }
  },
})
