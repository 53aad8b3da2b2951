import { UserGroupServiceError } from './error.ts'
import { parseJson } from './json.ts'

const advice = 'is a number that would not arrive as it is; send it as a string.'

/** The JSON text of a body. JSON.stringify would round in silence what is too large, and turn NaN into null. */
export function bodyText(body: object): string {
  const paths = new Map<unknown, string>()
  return JSON.stringify(body, function (this: unknown, key, value: unknown) {
    const path = pathOf(paths.get(this) ?? '', key)
    if (isInexact(value)) throw new UserGroupServiceError('invalid_request', `${path} ${advice}`, { field: path })
    if (typeof value === 'object') paths.set(value, path)
    return value
  })
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
