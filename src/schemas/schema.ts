import { nameOr, Text, Time } from '../http/fields.ts'
import { Type } from '../http/type.ts'

export const SchemaIn = Type.Object({ id: Type.Optional(Text), name: nameOr('the id') }, { title: 'SchemaRequest' })

export const SchemaOut = Type.Object({ id: Type.String(), name: Type.String(), created_at: Time }, { title: 'Schema' })

export const exampleSchema = { id: 'sales', name: 'Sales', created_at: '2026-11-15T09:00:00.000Z' }
