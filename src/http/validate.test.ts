import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ServiceError } from '../errors.ts'
import { parseJson } from '../json.ts'
import { Type } from './type.ts'
import { validator } from './validate.ts'

const text = Type.String({ minLength: 1, maxLength: 5, description: 'a string of 1 to 5 characters' })

const schema = Type.Object({
  id: text,
  count: Type.Optional(Type.Integer({ minimum: 0, description: 'a whole number' })),
  names: Type.Optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      propertyNames: { minLength: 1, maxLength: 100 },
      additionalProperties: { type: 'string', description: 'a string' },
      maxProperties: 2,
      description: 'an object of at most 2 names',
    }),
  ),
  list: Type.Optional(Type.Array(Type.Object({ id: text }), { description: 'a list' })),
  few: Type.Optional(Type.Array(text, { maxItems: 3, uniqueItems: true, description: 'up to 3, each once' })),
})

const validate = validator(schema, 'The body')

function refusal(value: unknown): { field: string | undefined; message: string } {
  try {
    validate(value)
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.code, 'invalid_request')
    return { field: error.field, message: error.message }
  }
  return assert.fail(`${JSON.stringify(value)} was taken`)
}

describe('what fits its schema', () => {
  it('is handed on as it came, unknown fields and odd keys among it', () => {
    const odd = parseJson('{"id":"a","count":1e1,"names":{"__proto__":"x"},"filename":"x","constructor":1}')
    for (const value of [{ id: 'a' }, { id: '12345', list: [] }, odd]) assert.equal(validate(value), value)
  })

  it('may count a character outside the basic plane as one', () => {
    assert.doesNotThrow(() => validate({ id: '😀😀😀😀😀' }))
    assert.equal(refusal({ id: '😀😀😀😀😀😀' }).field, 'id')
  })
})

describe('what does not fit', () => {
  it('is not looked at further than to where a list is too long: to find all that is there twice takes half a minute', () => {
    let looks = 0
    const list = new Proxy(Array(80_000).fill('a'), {
      get(items, key) {
        if (Number(key) > 3) looks += 1
        return Reflect.get(items, key)
      },
    })
    const valid = ['a', 'b', 'c']
    assert.doesNotThrow(() => validate({ id: 'a', few: valid }))
    for (const few of [list, [...valid, 'a'], ['a', 'a']])
      assert.deepEqual(refusal({ id: 'a', few }), { field: 'few', message: 'few must be up to 3, each once' })
    assert.ok(looks <= 80_000, `${looks} looks`)
  })

  it('is not looked at further than to where an object has too many entries', () => {
    let looks = 0
    const given = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`name ${index}`, 'x']))
    const names = new Proxy(given, {
      get(entries, key) {
        looks += 1
        return Reflect.get(entries, key)
      },
    })
    assert.equal(refusal({ id: 'a', names }).field, 'names')
    assert.ok(looks <= 20_003, `${looks} looks`)
  })

  for (const [what, value, field, expectation] of [
    ['a wrong type', { id: 42 }, 'id', 'a string of 1 to 5 characters'],
    ['a null', { id: null }, 'id', 'a string of 1 to 5 characters'],
    ['a missing field', { count: 1 }, 'id', 'a string of 1 to 5 characters'],
    ['too short a text', { id: '' }, 'id', 'a string of 1 to 5 characters'],
    ['too long a text', { id: '123456' }, 'id', 'a string of 1 to 5 characters'],
    ['a fraction', { id: 'a', count: 1.5 }, 'count', 'a whole number'],
    ['a number below the least', { id: 'a', count: -1 }, 'count', 'a whole number'],
    ['a number in words', { id: 'a', count: '1' }, 'count', 'a whole number'],
    ['a value inside an object', { id: 'a', names: { b: 1 } }, 'names.b', 'a string'],
    ['an odd key with a bad value', { id: 'a', names: { 'a/~': 1 } }, 'names["a/~"]', 'a string'],
    ['too long a key', { id: 'a', names: { ['k'.repeat(101)]: 'x' } }, 'names', 'an object of at most 2 names'],
    ['an empty key', { id: 'a', names: { '': 'x' } }, 'names', 'an object of at most 2 names'],
    ['too many entries', { id: 'a', names: { a: '', b: '', c: '' } }, 'names', 'an object of at most 2 names'],
    ['a list for an object', { id: 'a', names: [] }, 'names', 'an object of at most 2 names'],
    ['an object for a list', { id: 'a', list: {} }, 'list', 'a list'],
    [
      'a field of an element',
      { id: 'a', list: [{ id: 'a' }, { id: 5 }] },
      'list.1.id',
      'a string of 1 to 5 characters',
    ],
    ['a missing field of an element', { id: 'a', list: [{}] }, 'list.0.id', 'a string of 1 to 5 characters'],
  ] as const)
    it(`is refused with the field and what it must be: ${what}`, () =>
      assert.deepEqual(refusal(value), { field, message: `${field} must be ${expectation}` }))

  for (const value of [null, [], [{ id: 'a' }], 'a', 5, true])
    it(`is refused as a whole when it is no object: ${JSON.stringify(value)}`, () =>
      assert.deepEqual(refusal(value), { field: undefined, message: 'The body must be a JSON object.' }))

  it('never fits by way of a prototype', () => {
    for (const body of ['{"__proto__":{"id":"a"}}', '{"count":1,"__proto__":{"id":"a"}}'])
      assert.equal(refusal(parseJson(body)).field, 'id')
    assert.equal(refusal(parseJson('{"id":"a","names":{"__proto__":5}}')).field, 'names.__proto__')
  })

  it('never fits as a number that would lose digits, not even where an object is expected', () => {
    const inexact = '12345678901234567890'
    assert.equal(refusal(parseJson(`{"id":${inexact}}`)).field, 'id')
    assert.equal(refusal(parseJson(`{"id":"a","count":${inexact}}`)).field, 'count')
    assert.equal(refusal(parseJson(`{"id":"a","names":${inexact}}`)).field, 'names')
    assert.equal(refusal(parseJson(`{"id":"a","names":{"b":${inexact}}}`)).field, 'names.b')
  })

  it('is not repeated in the answer: it may be a secret in the wrong field', () => {
    const secret = 'ugt_secret'
    for (const value of [{ id: secret }, { id: 'a', count: secret }, { id: 'a', names: secret }])
      assert.equal(JSON.stringify(refusal(value)).includes(secret), false)
  })
})
