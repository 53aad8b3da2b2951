import { UserGroupServiceError } from './error.ts'
import { isObject, parseJson } from './json.ts'

const inexact = 'is a number that would not arrive as it is; send it as a string.'
const unlikeJson = 'is nothing that JSON has; send a plain object, an array or a string instead.'

/** The JSON text of a body. JSON.stringify would round, empty or leave out in silence what JSON does not have. */
export function bodyText(body: unknown): string {
  const text = textOf(body)
  if (text?.startsWith('{')) return text
  throw new UserGroupServiceError('invalid_request', 'The request must be an object.')
}

function textOf(body: unknown): string | undefined {
  const paths = new Map<unknown, string>()
  try {
    return JSON.stringify(body, function (this: unknown, key, value: unknown) {
      const path = pathOf(paths.get(this) ?? '', key)
      const fault = faultOf(value)
      if (fault) throw refusal(path, fault)
      if (typeof value === 'object') paths.set(value, path)
      return value
    })
  } catch (cause) {
    if (cause instanceof UserGroupServiceError) throw cause
    // One that holds itself, say.
    throw new UserGroupServiceError('invalid_request', 'The request cannot be made JSON.', { cause })
  }
}

/** What will be sent, as it is now: whoever passed it may change it while the call goes on. */
export function copyOf<Body extends object>(body: Body): Body {
  return parseJson(bodyText(body)) as Body
}

function refusal(path: string, fault: string): UserGroupServiceError {
  const field = path === '' ? undefined : path
  return new UserGroupServiceError('invalid_request', `${field ?? 'The request'} ${fault}`, { field })
}

function faultOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return isExact(value) ? undefined : inexact
  return isLikeJson(value) ? undefined : unlikeJson
}

function isExact(value: number | bigint): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

const tagsOfJson = /^\[object (Object|Array|String|Boolean|Null|Undefined)\]$/

/** Not what JSON.stringify leaves out, a function, nor what would arrive empty, a Map, nor what might become null. */
function isLikeJson(value: unknown): boolean {
  if (tagsOfJson.test(Object.prototype.toString.call(value))) return true
  return isObject(value) && Object.keys(value).length > 0
}

/** As the service writes it: `properties.size`, `properties["a b"]`. */
function pathOf(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return key === '' && path === '' ? '' : `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
