/** Stands in a parsed body for a number that would lose digits: 12345678901234567890 must not become ...567000. */
export class InexactNumber {
  readonly source: string

  constructor(source: string) {
    this.source = source
  }
}

// Fifteen digits without an exponent always survive; only a text with more is worth the slower parse.
const suspicious = /[\d.]{16}|\d[eE][-+\d]/

type Reviver = (key: string, value: unknown, context: { source: string }) => unknown
// TypeScript does not know the third argument yet.
const parseWith = JSON.parse as (text: string, reviver: Reviver) => unknown

/** JSON.parse that never rounds in silence. Keys like `__proto__` become ordinary own properties. */
export function parseJson(text: string): unknown {
  if (!suspicious.test(text)) return JSON.parse(text)
  return parseWith(text, (_key, value, context) => {
    if (typeof value !== 'number' || isExact(context.source, value)) return value
    return new InexactNumber(context.source)
  })
}

function isExact(source: string, value: number): boolean {
  return Number.isFinite(value) && decimal(source) === decimal(String(value))
}

/** The same text for the same decimal number, however it is written: 1.50, 15e-1 and 1.5 are 15e-1. */
function decimal(source: string): string {
  const [mantissa = '', exponent = '0'] = source.replace(/^-/, '').split(/e/i)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** A field's path as a person would write it: `mapping.sales`, `properties["a b"]`. */
export function fieldPath(segments: readonly string[]): string {
  return segments.reduce((path, segment) => {
    const short = segment.length > 64 ? `${segment.slice(0, 64)}…` : segment
    if (!/^[\w-]+…?$/.test(short)) return `${path}[${JSON.stringify(short)}]`
    return path === '' ? short : `${path}.${short}`
  }, '')
}
