import { UserGroupServiceError } from './error.ts'
import { parseJson } from './json.ts'

const advice = 'is a number that would not arrive as it is; send it as a string.'

/** The JSON text of a body. JSON.stringify would round in silence what is too large, and turn NaN into null. */
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
      if (isInexact(value)) throw new UserGroupServiceError('invalid_request', `${path} ${advice}`, { field: path })
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

function isInexact(value: unknown): boolean {
  if (typeof value === 'bigint') return true
  if (typeof value !== 'number') return false
  return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))
}

/** As the service writes it: `properties.size`, `properties["a b"]`. */
function pathOf(path: string, key: string): string {
  if (!/^[\w-]+$/.test(key)) return key === '' && path === '' ? '' : `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
