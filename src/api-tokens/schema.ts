import { Text, Time, TimeOrNull } from '../http/fields.ts'
import { Type } from '../http/type.ts'
import { type Scope, scopes } from './api-token.ts'

const ScopeName = Type.Enum([...scopes])

export const ApiTokenIn = Type.Object(
  {
    name: Text,
    scopes: Type.Unsafe<Scope[]>({
      type: 'array',
      items: ScopeName,
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
      description: `an array of one or more of ${scopes.join(', ')}, each once`,
    }),
    expires_at: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'date-time',
        description: 'a time in the future, such as "2099-12-31T23:59:59Z", or null',
      }),
    ),
  },
  { title: 'ApiTokenRequest' },
)

export const ApiTokenOut = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    scopes: Type.Array(ScopeName),
    expires_at: TimeOrNull,
    created_at: Time,
    last_used_at: TimeOrNull,
  },
  { title: 'ApiToken' },
)

export const FreshApiTokenOut = Type.Object(
  { ...ApiTokenOut.properties, token: Type.String() },
  { title: 'FreshApiToken' },
)

export const exampleApiToken = {
  id: 185633826219858,
  name: 'ci',
  scopes: ['verify'],
  expires_at: null,
  created_at: '2026-11-15T09:00:00.000Z',
  last_used_at: null,
}
