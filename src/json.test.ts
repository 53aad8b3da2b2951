import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { fieldPath, inexactNumber, parseJson } from './json.ts'

/** A decimal number without a computer's rounding: digits × 10^exponent, trailing zeros gone. */
interface Decimal {
  digits: bigint
  exponent: bigint
}

function decimal(literal: string): Decimal {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? assert.fail(`${literal} is not a JSON number`)
  let digits = BigInt(`${sign}${whole}${fraction}`)
  let power = BigInt(exponent.replace('+', '')) - BigInt(fraction.length)
  if (digits === 0n) return { digits, exponent: 0n }
  while (digits % 10n === 0n) {
    digits /= 10n
    power += 1n
  }
  return { digits, exponent: power }
}

function sameNumber(a: string, b: string): boolean {
  const [x, y] = [decimal(a), decimal(b)]
  return x.digits === y.digits && x.exponent === y.exponent
}

const digit = fc.constantFrom(...'0123456789')
const run = (least: number, most: number) =>
  fc.oneof(
    fc.string({ unit: digit, minLength: least, maxLength: most }),
    fc.integer({ min: least, max: most }).map((length) => '0'.repeat(length)),
    fc.integer({ min: least, max: most }).map((length) => '9'.repeat(length)),
  )

/** Every form the JSON grammar knows, short and long, near the edges of a double and far beyond them. */
const literal = fc
  .record({
    sign: fc.constantFrom('', '-'),
    whole: fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.constantFrom(...'123456789'), run(0, 24)).map((parts) => parts.join('')),
    ),
    fraction: fc.oneof(
      fc.constant(''),
      run(1, 40).map((digits) => `.${digits}`),
    ),
    exponent: fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      fc
        .tuple(fc.constantFrom('e', 'E'), fc.constantFrom('', '+', '-'), fc.oneof(fc.nat(40), fc.nat(400), fc.nat()))
        .map((parts) => parts.join('')),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent)

/** Where a number can stand in a body; the path leads back to it. */
const place = fc.constantFrom<{ text: (number: string) => string; find: (parsed: unknown) => unknown }>(
  { text: (number) => number, find: (parsed) => parsed },
  { text: (number) => `{"a":${number}}`, find: (parsed) => (parsed as { a: unknown }).a },
  { text: (number) => `[1,{"b":[ ${number} ]},"12345678901234567890"]`, find: (parsed) => nested(parsed) },
)

function nested(parsed: unknown): unknown {
  return (parsed as [number, { b: unknown[] }])[1].b[0]
}

describe('parseJson', () => {
  it('keeps any number exactly or hands it over as inexact, and never rounds in silence', () => {
    fc.assert(
      fc.property(literal, place, (number, { text, find }) => {
        const kept = find(parseJson(text(number)))
        const source = inexactNumber(kept)
        if (source !== undefined) assert.equal(source, number)
        else assert.ok(sameNumber(number, JSON.stringify(kept)), `${number} became ${String(kept)}`)
      }),
      { numRuns: 5_000 },
    )
  })

  it('calls no number inexact that a double keeps, however it is written', () => {
    const double = fc.double({ noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(double, (value) => {
        const exponential = value.toExponential()
        for (const number of [String(value), exponential, exponential.toUpperCase()])
          assert.deepEqual(parseJson(`[${number}]`), [Number(number)])
      }),
      { numRuns: 2_000 },
    )
    for (const number of ['1.50', '15e-1', '0.0e9', '0e400', '100000000000000000000', '4.50000000000000000', '1E+2'])
      assert.equal(parseJson(number), Number(number))
  })

  it('hands the ids of other systems over as inexact', () => {
    for (const number of ['9007199254740993', '12345678901234567890', '1e400', '1e-400', '0.10000000000000000001'])
      assert.equal(inexactNumber((parseJson(`{"id":${number}}`) as { id: unknown }).id), number)
  })

  it('is not held up by a number of many digits, wherever its zeros stand', () => {
    const zeros = '0'.repeat(60_000)
    const before = process.cpuUsage()
    for (const number of [`1.${zeros}1`, `1${zeros}1e-60001`, `1.${zeros}`, `0.${zeros}1`]) parseJson(`[${number}]`)
    const { user } = process.cpuUsage(before)
    assert.ok(user < 2_000_000, `${user} µs`)
  })

  it('reads everything else as it was written', () => {
    const isRead = (text: string) => assert.equal(JSON.stringify(parseJson(text)), text)
    fc.assert(fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => isRead(JSON.stringify(value))))
    isRead('{"text":"12345678901234567890 1e5","list":[true,null,{}]}')
  })

  it('refuses what is not JSON, with long numbers in it or without', () => {
    for (const text of ['', '{', '{"a":01}', '[1,]', '{"a":1}{', '[12345678901234567890,]', '1.e5', 'NaN', '\ufeff{}'])
      assert.throws(() => parseJson(text), SyntaxError, text)
  })

  it('takes no key for one of a text before, however it is escaped', () => {
    parseJson(String.raw`{"region":"eu","Gr\\u0":1}`)
    const escaped = String.raw`{"region":"eu","Gr\u00f6\u00dfe":"XL","in":[{"region":2,"Gr\u00f6\u00dfe":3}]}`
    assert.deepEqual(parseJson(escaped), { region: 'eu', Größe: 'XL', in: [{ region: 2, Größe: 3 }] })
  })

  it('keeps any keys in their order, the last of those that are the same, however they are escaped', () => {
    const escapeAll = (key: string) => [...Array(key.length).keys()].map((at) => escapeOf(key, at)).join('')
    const escapeOf = (key: string, at: number) => `\\u${key.charCodeAt(at).toString(16).padStart(4, '0')}`
    const short = fc.string({ unit: fc.constantFrom(...'\\u0"\n\tö:{', '__proto__'), maxLength: 4 })
    // Numbers come first in an object, whatever stands before them, and most of these come more than once.
    const key = fc.oneof(short, fc.constantFrom('0', '7', 'ö', '"'))
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.boolean(), fc.nat(9))), (entries) => {
        const members = entries.map(([key, isEscaped, value]) => {
          return `${isEscaped ? `"${escapeAll(key)}"` : JSON.stringify(key)} : ${value}`
        })
        const expected = Object.fromEntries(entries.map(([key, , value]) => [key, value]))
        const parsed = parseJson(`{"deep":[{${members.join(',')}}]}`) as { deep: [object] }
        assert.deepEqual(Object.entries(parsed.deep[0]), Object.entries(expected))
      }),
      { numRuns: 5_000 },
    )
  })

  for (const number of ['1', '12345678901234567890'])
    it(`makes "__proto__" an own property and changes no prototype, beside the number ${number}`, () => {
      const parsed = parseJson(`{"number":${number},"__proto__":{"admin":true},"in":{"__proto__":[]}}`) as object
      assert.equal(Object.getPrototypeOf(parsed), Object.prototype)
      assert.ok(Object.hasOwn(parsed, '__proto__'))
      assert.equal('admin' in parsed, false)
      assert.equal('admin' in {}, false)
      const inner = (parsed as { in: object }).in
      assert.equal(Object.getPrototypeOf(inner), Object.prototype)
      assert.equal(JSON.stringify(inner), '{"__proto__":[]}')
    })
})

describe('fieldPath', () => {
  for (const [segments, written] of [
    [['name'], 'name'],
    [['mapping', 'sales'], 'mapping.sales'],
    [['mapping', 'a b'], 'mapping["a b"]'],
    [['mapping', 'a"b'], 'mapping["a\\"b"]'],
    [['properties', 'list', '0', 'x-y'], 'properties.list.0.x-y'],
    [['properties', '', 'x'], 'properties[""].x'],
    [['properties', 'a.b'], 'properties["a.b"]'],
    [['a b'], '["a b"]'],
    [['mapping', 'k'.repeat(65)], `mapping.${'k'.repeat(64)}…`],
    [[], ''],
  ] as const)
    it(`writes ${JSON.stringify(segments).slice(0, 40)} as a person would`, () =>
      assert.equal(fieldPath(segments), written))

  it('stays on one line and short, whatever a caller chose as a key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (key) => {
        const written = fieldPath(['mapping', key])
        assert.match(written, /^mapping(\.|\[")[^\n\r]*$/)
        assert.ok(written.length < 7 * 66, String(written.length))
      }),
    )
  })
})
