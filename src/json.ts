import { randomUUID } from 'node:crypto'
import { invalid } from './errors.ts'
import { withoutTokens } from './tokens/format.ts'

const mark = `inexact ${randomUUID()}`

// Fifteen digits without an exponent always survive; only a text with more is worth a closer look, or with an escape.
const suspicious = /\\|\d(?:[\d.]{15}|[eE][-+\d])/
const stringsAndNumbers = /"(?:[^"\\]+|\\.)*"(?:\s*:)?|-?\d[\d.eE+-]*/g

/**
 * JSON.parse that changes nothing in silence. 12345678901234567890 must not become …567000: a number that would lose
 * digits becomes a symbol, which no schema takes for anything. And V8 takes a key with an escape for one with a backslash
 * that it has met before, in whoever's text (https://github.com/nodejs/node/issues/63785), so it is shown none. Keys like
 * `__proto__` become ordinary own properties.
 */
export function parseJson(text: string): unknown {
  const value = JSON.parse(text)
  if (!suspicious.test(text)) return value
  // Marked in the text rather than by a reviver, which would overflow the stack on a deep body.
  const marked = text.replaceAll(stringsAndNumbers, (token) => {
    if (!token.startsWith('"')) return isExact(token) ? token : `{"${mark}":"${token}"}`
    return token.endsWith(':') && token.includes('\\') ? `${withoutEscape(token)}:` : token
  })
  return marked === text ? value : unmarked(JSON.parse(marked))
}

/** How the number was written, when `value` stands for one that would lose digits. */
export function inexactNumber(value: unknown): string | undefined {
  return typeof value === 'symbol' ? value.description : undefined
}

/** The same key for the same name, however it was escaped, so that of two the last counts as ever. */
function withoutEscape(token: string): string {
  const name: string = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1))
  const key = JSON.stringify(name)
  return key.includes('\\') ? `"${mark}${Buffer.from(name, 'utf16le').toString('hex')}"` : key
}

function unmarked(parsed: unknown): unknown {
  const whole = { parsed }
  const open: object[] = [whole]
  for (let object = open.pop(); object !== undefined; object = open.pop()) {
    for (const [key, inner] of Object.entries(object)) {
      if (typeof inner !== 'object' || inner === null) continue
      const value = Object.hasOwn(inner, mark) ? Symbol(inner[mark]) : withNames(inner)
      if (value !== inner) Object.defineProperty(object, key, { value })
      if (typeof value === 'object') open.push(value)
    }
  }
  return whole.parsed
}

function withNames(object: object): object {
  const isMarked = (key: string) => key.startsWith(mark)
  if (!Object.keys(object).some(isMarked)) return object
  const nameOf = (key: string) => Buffer.from(key.slice(mark.length), 'hex').toString('utf16le')
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [isMarked(key) ? nameOf(key) : key, value]))
}

function isExact(source: string): boolean {
  const value = Number(source)
  return Number.isFinite(value) && decimal(source) === decimal(String(value))
}

/** The same text for the same decimal number, however it is written: 1.50, 15e-1 and 1.5 are 15e-1. */
function decimal(source: string): string {
  const [mantissa = '', exponent = '0'] = source.replace(/^-/, '').split(/e/i)
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = withoutLastZeros(digits)
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** Not by /0+$/, which looks for the end anew from every zero there is: a body full of them would take minutes. */
function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** A field's path as a person would write it: `mapping.sales`, `properties["a b"]`. A token in it is not repeated. */
export function fieldPath(segments: readonly string[]): string {
  return segments.reduce((path, segment) => {
    const safe = withoutTokens(segment)
    const short = safe.length > 64 ? `${safe.slice(0, 64)}…` : safe
    if (!/^[\w-]+…?$/.test(short)) return `${path}[${JSON.stringify(short)}]`
    return path === '' ? short : `${path}.${short}`
  }, '')
}

const keepable = { bytes: 64 * 1024, levels: 32 }

/** The JSON text of an object that will come back exactly as it came in; refuses one that could not. */
export function keepableJson(object: object, field: string): string {
  refuseUnkeepable(object, [field])
  const text = JSON.stringify(object)
  if (Buffer.byteLength(text) > keepable.bytes) throw invalid(field, 'must be at most 64 KiB as JSON')
  return text
}

function refuseUnkeepable(value: unknown, path: string[]): void {
  if (inexactNumber(value) !== undefined)
    throw invalid(fieldPath(path), 'would lose digits as a number; send it as a string')
  if (typeof value !== 'object' || value === null) return
  if (path.length > keepable.levels) throw invalid(path[0] ?? '', 'must be at most 32 levels deep')
  for (const [key, inner] of Object.entries(value)) refuseUnkeepable(inner, [...path, key])
}
