import assert from 'node:assert/strict'
import { it } from 'node:test'
import TypeBox from 'typebox'
import { Type } from './type.ts'

it('a schema is the one that TypeBox would have made', () => {
  const of = (the: typeof Type) => [
    the.Array(the.String(), { description: 'a list' }),
    the.Boolean({ description: 'true or false' }),
    the.Enum(['a', 'b'], { description: 'one of them' }),
    the.Integer({ minimum: 0 }),
    the.Literal(1),
    the.Literal('text', { description: 'always the same' }),
    the.Object({ one: the.String(), two: the.Integer() }, { additionalProperties: false }),
    the.Object({
      one: the.Optional(the.String({ minLength: 1 })),
      two: the.Optional(the.Unsafe({ type: ['string', 'null'] })),
    }),
    the.Object({ one: the.Optional(the.Object({ two: the.String() })), three: the.Array(the.Object({})) }),
    the.Unsafe({ type: 'array', items: { type: 'string' } }),
  ]
  assert.equal(JSON.stringify(of(Type), null, 1), JSON.stringify(of(TypeBox), null, 1))
})

it('a schema that is optional in one place is required in another', () => {
  const text = Type.String()
  Type.Optional(text)
  assert.deepEqual(Type.Object({ text }).required, ['text'])
})
