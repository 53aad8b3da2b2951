import { Flag, nameOr, Text, Time, TimeOrNull } from '../http/fields.ts'
import { Type } from '../http/type.ts'

const Mapping = Type.Unsafe<Record<string, string>>({
  type: 'object',
  propertyNames: { minLength: 1, maxLength: 255 },
  additionalProperties: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'a string of 1 to 255 characters: the id or provided_id of a data source',
  },
  maxProperties: 200,
  description:
    'an object of at most 200 entries, each from a schema id of 1 to 255 characters to the id or provided_id of a data source',
})

export const Properties = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'a JSON object of at most 64 KiB and 32 levels, without numbers that would lose digits: send those as strings',
})

export const GetOrCreateIn = Type.Object(
  {
    user_group_id: Text,
    name: nameOr('the user_group_id'),
    mapping: Type.Optional(Mapping),
    properties: Type.Optional(Properties),
  },
  { title: 'GetOrCreateRequest' },
)

export const RotateIn = Type.Object(
  {
    current_token: Type.String({
      description:
        'a string: the current token of the user group, which this call replaces; ' +
        'to look a group up, use GET /api/user or POST /api/user_groups',
    }),
    grace_seconds: Type.Optional(
      Type.Integer({
        ...{ minimum: 0, maximum: 604_800, default: 0 },
        description:
          'a whole number of seconds from 0 to 604800, for which the old token still verifies; ' +
          'by default 0, which ends all earlier tokens at once',
      }),
    ),
  },
  { title: 'RotateRequest' },
)

export const UserGroupOut = Type.Object(
  {
    team_id: Type.Integer(),
    token: Type.String(),
    name: Type.String(),
    provided_id: Type.String(),
  },
  { title: 'UserGroup' },
)

/** Everything of a user group but its token. */
export const UserGroupRecordOut = Type.Object(
  {
    team_id: Type.Integer(),
    name: Type.String(),
    provided_id: Type.String(),
    mapping: Mapping,
    properties: Properties,
    disabled: Type.Boolean(),
    created_at: Time,
    updated_at: Time,
    token_rotated_at: TimeOrNull,
  },
  { title: 'UserGroupRecord' },
)

export const UpdateIn = Type.Object(
  {
    provided_id: Type.Optional(Text),
    name: Type.Optional(Text),
    mapping: Type.Optional(Mapping),
    properties: Type.Optional(Properties),
    disabled: Type.Optional(Flag),
  },
  { title: 'UserGroupPatch' },
)

export const exampleRecord = {
  team_id: 1,
  name: 'Acme',
  provided_id: 'acme',
  mapping: { sales: 'acme-db' },
  properties: { region: 'eu' },
  disabled: false,
  created_at: '2026-11-15T09:00:00.000Z',
  updated_at: '2026-11-15T09:00:00.000Z',
  token_rotated_at: null,
}
