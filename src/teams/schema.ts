import { Text } from '../http/fields.ts'
import { Type } from '../http/type.ts'

const strictness =
  'whether a mapping to a data source that the team does not have is refused; its schema is not checked'

export const TeamOut = Type.Object(
  { id: Type.Integer(), name: Type.String(), strict_mapping: Type.Boolean({ description: strictness }) },
  { title: 'Team' },
)

export const TeamPatch = Type.Object(
  {
    name: Type.Optional(Text),
    strict_mapping: Type.Optional(Type.Boolean({ description: `true or false: ${strictness}` })),
  },
  { title: 'TeamPatch' },
)
