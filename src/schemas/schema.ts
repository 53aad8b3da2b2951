import { isoTime } from '../clock.ts'
import { Text, Time } from '../http/fields.ts'
import { Type } from '../http/type.ts'
import type { DataSchema } from './data-schema.ts'

export const SchemaIn = Type.Object({ id: Type.Optional(Text), name: Type.Optional(Text) }, { title: 'SchemaRequest' })

export const SchemaOut = Type.Object({ id: Type.String(), name: Type.String(), created_at: Time }, { title: 'Schema' })

export function presentSchema({ id, name, createdAt }: DataSchema) {
  return { id, name, created_at: isoTime(createdAt) }
}
