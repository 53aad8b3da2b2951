import { Flag, Text } from '../http/fields.ts'
import { Type } from '../http/type.ts'

export const TeamOut = Type.Object(
  { id: Type.Integer(), name: Type.String(), strict_mapping: Type.Boolean() },
  { title: 'Team' },
)

export const TeamPatch = Type.Object(
  { name: Type.Optional(Text), strict_mapping: Type.Optional(Flag) },
  { title: 'TeamPatch' },
)
