import type { FieldSchema } from './operations.ts'

/** A number that JavaScript cannot hold: it has to be written into the text of a body. */
export const numberThatLosesDigits = '@12345678901234567890@'

const ofEveryType: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 42, 0.5, 1e300, '', 'x', 'true', '42', 'null', '{}'],
  ...[[], [null], ['x'], [[]], {}, { a: 1 }, { length: 1 }],
]
const texts = [
  '',
  'x'.repeat(256),
  '😀'.repeat(256),
  '\u0000',
  'a\u0000b',
  'a\n',
  '\u001f',
  '\u007f',
  'a\u0085',
  '\ud800',
  'ds_x',
]

/** Values a field must refuse, by what openapi.json says of it. */
export function wrongValues(schema: FieldSchema): unknown[] {
  const types = [schema.type].flat()
  const ofWrongType = ofEveryType.filter((value) => !types.some((type) => isOf(type, value)))
  return [...ofWrongType, ...types.flatMap((type) => wrongWithin(type, schema))]
}

/** Values of the right type that are wrong all the same. */
function wrongWithin(type: string | undefined, schema: FieldSchema): unknown[] {
  if (type === 'string') return texts.filter((text) => !isText(schema, text))
  if (type === 'integer') return [Number(schema.minimum) - 1, Number(schema.maximum) + 1, 1e15].filter(Number.isFinite)
  if (type === 'array') return wrongArrays(schema)
  if (type === 'object') return typeof schema.additionalProperties === 'object' ? wrongMaps(schema) : wrongJson
  return []
}

function wrongArrays({ items = {}, minItems, uniqueItems }: FieldSchema): unknown[] {
  const good = items.enum ?? []
  return [
    ...(minItems === undefined ? [] : [[]]),
    ...(uniqueItems ? [[good[0], good[0]]] : []),
    ...[null, true, 42, 'x', '', [], [good[0]], {}, String(good[0]).toUpperCase()].map((item) => [
      ...good.slice(0, 1),
      item,
    ]),
  ]
}

function wrongMaps({ additionalProperties, propertyNames, maxProperties }: FieldSchema): unknown[] {
  const values = wrongValues(additionalProperties as FieldSchema)
  const keys = ['', 'x'.repeat(256), '😀'.repeat(256)].filter((key) => !isText(propertyNames ?? {}, key))
  const tooMany = Array.from({ length: (maxProperties ?? 0) + 1 }, (_, i) => [`key ${i}`, 'x'])
  return [
    ...values.map((value) => ({ good: 'x', bad: value })),
    ...keys.map((key) => ({ good: 'x', [key]: 'x' })),
    ...(maxProperties === undefined ? [] : [Object.fromEntries(tooMany)]),
  ]
}

const wrongJson: object[] = [
  { a: nested(33) },
  { a: 'x'.repeat(64 * 1024) },
  { a: numberThatLosesDigits },
  { a: [{ b: numberThatLosesDigits }] },
]

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)]
}

function isOf(type: string | undefined, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

/** A string by the rules of its schema; its characters are code points. */
export function isText(schema: FieldSchema, text: string): boolean {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema
  if (schema.enum !== undefined) return schema.enum.includes(text)
  const { length } = [...text]
  return length >= minLength && length <= maxLength && (pattern === undefined || new RegExp(pattern, 'u').test(text))
}
