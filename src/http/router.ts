import { catalogue, ServiceError } from '../errors.ts'

interface Routed {
  method: string
  /** With {name} for the part that is an id: it is the last one. */
  path: string
}

interface Found<Route> {
  route: Route
  /** What stands in the place of {name}, decoded; otherwise ''. */
  id: string
}

/** Finds a route by method and path: whole paths, and paths that end in an id. */
export class Router<Route extends Routed> {
  /** Compared one by one: they are few, and what a map asks V8 to do with a string it has not seen costs more. */
  readonly #usual: readonly { path: string; methods: Map<string, Found<Route>> }[]
  readonly #whole = new Map<string, Map<string, Found<Route>>>()
  readonly #endingInId = new Map<string, Map<string, Found<Route>>>()

  readonly #elsewhere: string

  constructor(routes: readonly Route[], elsewhere: string = catalogue.not_found.message) {
    this.#elsewhere = elsewhere
    for (const route of routes) {
      const base = route.path.replace(/\/\{\w+\}$/, '')
      const places = base === route.path ? this.#whole : this.#endingInId
      const methods = places.get(base) ?? new Map()
      places.set(base, methods.set(route.method, { route, id: '' }))
    }
    this.#usual = [...this.#whole].map(([path, methods]) => ({ path, methods }))
  }

  find(method: string, target: string): Found<Route> {
    const path = withoutQuery(target)
    for (const usual of this.#usual)
      if (usual.path === path) return usual.methods.get(method) ?? this.#findUnusual(method, path)
    return this.#findUnusual(method, path)
  }

  #findUnusual(method: string, path: string): Found<Route> {
    const plain = originForm(path).replace(/(?<=.)\/$/, '')
    const cut = plain.lastIndexOf('/')
    const whole = this.#whole.get(decoded(plain, decodeURI))
    const methods = whole ?? this.#endingInId.get(decoded(plain.slice(0, cut), decodeURI))
    if (methods === undefined) throw new ServiceError('not_found', { message: this.#elsewhere })
    const found = methods.get(method)
    if (found === undefined)
      throw new ServiceError('method_not_allowed', { headers: { Allow: [...methods.keys()].sort().join(', ') } })
    return whole ? found : { route: found.route, id: decoded(plain.slice(cut + 1), decodeURIComponent) }
  }
}

function withoutQuery(target: string): string {
  const at = target.indexOf('?')
  return at < 0 ? target : target.slice(0, at)
}

/** A proxy may send the whole URL as the target. */
function originForm(path: string): string {
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '')
}

function decoded(text: string, decode: (text: string) => string): string {
  if (!text.includes('%')) return text
  try {
    return decode(text)
  } catch {
    throw new ServiceError('invalid_request', { message: 'The path is not valid percent-encoding.' })
  }
}

/** The query as an object; a name that is there twice has all its values. */
export function queryOf(target: string): Record<string, string | string[]> {
  const at = target.indexOf('?')
  if (at < 0) return {}
  const text = target.slice(at + 1)
  try {
    decodeURIComponent(text)
  } catch {
    throw new ServiceError('invalid_request', { message: 'The query is not valid percent-encoding.' })
  }
  const byName = Map.groupBy(new URLSearchParams(text), ([name]) => name)
  return Object.fromEntries(
    [...byName].map(([name, entries]) => {
      const [first = '', ...more] = entries.map(([, value]) => value)
      return [name, more.length === 0 ? first : [first, ...more]]
    }),
  )
}
