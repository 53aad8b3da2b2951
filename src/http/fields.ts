import type { TObject } from 'typebox'
import { timeOf } from '../clock.ts'
import { invalid, ServiceError } from '../errors.ts'
import { Type } from './type.ts'

// Control characters and halves of surrogate pairs: neither is text that every engine keeps as it came.
export const plainCharacter = '[^\\p{Cc}\\p{Cs}]'

const ofText = 'a string of 1 to 255 characters without control characters or lone surrogates'

/** An id or a name. */
export const Text = Type.String({ minLength: 1, maxLength: 255, pattern: `^${plainCharacter}*$`, description: ofText })

/** A name that need not be given: `otherwise` is what it is then. */
export function nameOr(otherwise: string) {
  return Type.Optional(Type.String({ ...Text, description: `${ofText}; without one, the name is ${otherwise}` }))
}

const text = new RegExp(`^${plainCharacter}{1,255}$`, 'u')

/** The same rule for what comes otherwise than in a body: in a path, a cursor or an argument. */
export function isText(value: string): boolean {
  return text.test(value)
}

export const Flag = Type.Boolean({ description: 'true or false' })

export const Time = Type.String({ format: 'date-time' })
export const TimeOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })
export const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })

interface WholeNumber {
  minimum: number
  maximum: number
  default?: number
  /** What `minimum` and `maximum` say, as a pattern of the digits. */
  pattern: string
  description: string
}

/** A number in a query. It comes as text and is checked as text; callers and documents may take it for the number it is. */
export function wholeNumber({ pattern, description, ...number }: WholeNumber) {
  return Type.Optional(Type.String({ pattern, description, number }))
}

/** What was given of an object, so that only that is changed, or asked for. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T
}

/** Refuses a change that changes nothing, whether nothing was sent or nothing known. */
export function refuseEmptyPatch(body: object, { properties }: TObject): void {
  const fields = Object.keys(properties)
  if (fields.some((field) => Object.hasOwn(body, field))) return
  throw new ServiceError('invalid_request', { message: `Send at least one of ${fields.join(', ')}.` })
}

export function parseTime(text: string, field: string): number {
  const time = timeOf(text)
  if (time === undefined)
    throw invalid(field, 'must be a time such as "2099-12-31T23:59:59Z" or "2099-12-31T23:59:59+01:00"')
  return time
}
