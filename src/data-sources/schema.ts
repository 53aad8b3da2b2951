import { nameOr, plainCharacter, Text, TextOrNull, Time } from '../http/fields.ts'
import { Type } from '../http/type.ts'

/** An id of ours begins with ds_, a caller's never: each value names one data source at most. */
const ProvidedId = Type.String({
  ...Text,
  pattern: `^(?!ds_)${plainCharacter}*$`,
  description: 'a string of 1 to 255 characters without control characters or lone surrogates, not beginning with ds_',
})

const Connection = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description: 'a JSON object of at most 64 KiB and 32 levels; it is stored sealed and never returned',
})

const optional = {
  provided_id: Type.Optional(ProvidedId),
  name: Type.Optional(Text),
  kind: Type.Optional(Text),
  connection: Type.Optional(Connection),
}

export const DataSourceIn = Type.Object(
  { schema_id: Text, ...optional, name: nameOr('the provided_id, or else the id') },
  { title: 'DataSourceRequest' },
)

export const DataSourcePatch = Type.Object(
  { schema_id: Type.Optional(Text), ...optional },
  { title: 'DataSourcePatch' },
)

export const DataSourceOut = Type.Object(
  {
    id: Type.String(),
    provided_id: TextOrNull,
    schema_id: Type.String(),
    name: Type.String(),
    kind: TextOrNull,
    created_at: Time,
    updated_at: Time,
  },
  { title: 'DataSource' },
)

export const exampleDataSource = {
  id: 'ds_bKBVf5bLAuXDIPXQtkHY',
  provided_id: 'acme-db',
  schema_id: 'sales',
  name: 'Acme DB',
  kind: 'postgres',
  created_at: '2026-11-15T09:00:00.000Z',
  updated_at: '2026-11-15T09:00:00.000Z',
}
