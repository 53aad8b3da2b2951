import Type from 'typebox'

// Control characters and halves of surrogate pairs: neither is text that every engine keeps as it came.
const plainText = '^[^\\p{Cc}\\p{Cs}]*$'

export const ProvidedId = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: plainText,
  description: 'a string of 1 to 255 characters without control characters',
})

export const Name = ProvidedId

export const Mapping = Type.Unsafe<Record<string, string>>({
  type: 'object',
  propertyNames: { minLength: 1, maxLength: 255 },
  additionalProperties: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    description: 'a string of 1 to 255 characters',
  },
  maxProperties: 200,
  description: 'an object of at most 200 entries, each from a schema id of 1 to 255 characters to a data source',
})

export const Properties = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'a JSON object of at most 64 KiB and 32 levels',
})

export const GetOrCreateIn = Type.Object({
  user_group_id: ProvidedId,
  name: Type.Optional(Name),
  mapping: Type.Optional(Mapping),
  properties: Type.Optional(Properties),
})

export const RotateIn = Type.Object({
  current_token: Type.String({ description: 'a string: the current token of the user group' }),
  grace_seconds: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 604_800, description: 'a whole number of seconds from 0 to 604800' }),
  ),
})

export const UserGroupOut = Type.Object({
  team_id: Type.Integer(),
  token: Type.String(),
  name: Type.String(),
  provided_id: Type.String(),
})
