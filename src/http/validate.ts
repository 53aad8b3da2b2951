import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { invalid, ServiceError } from '../errors.ts'
import { fieldPath } from '../json.ts'

/** A schema's `description` completes the sentence "<field> must be …", for the reader of an error and of the docs alike. */
interface Described {
  description?: string
  properties?: Record<string, Described>
  additionalProperties?: Described | boolean
  items?: Described
  maxItems?: number
  maxProperties?: number
}

/** Refuses what does not fit `schema`, naming the field and what it must be. `what` names the whole: "The body". */
export function validator<S extends TSchema>(schema: S, what: string): (value: unknown) => Static<S> {
  const compiled = Compile(schema)
  return (value) => {
    if (compiled.Check(value)) return value as Static<S>
    const [, [error]] = compiled.Errors(withoutExcess(schema as Described, value))
    const path = pathOf(error?.instancePath ?? '', error?.schemaPath ?? '')
    if (error?.keyword === 'required') path.push(error.params.requiredProperties[0] ?? '')
    if (path.length === 0) throw new ServiceError('invalid_request', { message: `${what} must be a JSON object.` })
    const { expectation, depth } = describe(schema as Described, path)
    throw invalid(fieldPath(path.slice(0, depth)), expectation)
  }
}

/** One too many is wrong enough: TypeBox looks at all, and took half a minute for a list of 80,000 that are there twice. */
function withoutExcess({ properties = {} }: Described, value: unknown): unknown {
  const shortened = Object.entries(properties).flatMap(([name, described]) => {
    const given = Object(value)[name]
    const kept = shorten(described, given)
    return kept === given ? [] : [[name, kept]]
  })
  return shortened.length === 0 ? value : { ...(value as object), ...Object.fromEntries(shortened) }
}

const noLimit = Number.POSITIVE_INFINITY

function shorten({ maxItems = noLimit, maxProperties = noLimit }: Described, given: unknown): unknown {
  if (Array.isArray(given)) return given.length > maxItems ? given.slice(0, maxItems + 1) : given
  if (typeof given !== 'object' || given === null) return given
  const names = Object.keys(given)
  if (names.length <= maxProperties) return given
  return Object.fromEntries(names.slice(0, maxProperties + 1).map((name) => [name, Reflect.get(given, name)]))
}

function pathOf(pointer: string, schemaPath: string): string[] {
  const path = pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
  // A bad key is the fault of the object that holds it.
  return schemaPath.includes('/propertyNames') ? path.slice(0, -1) : path
}

/** The expectation of the deepest described schema on the way to the fault. */
function describe(schema: Described, path: readonly string[]): { expectation: string; depth: number } {
  let at: Described | undefined = schema
  let found = { expectation: 'is not valid', depth: path.length }
  for (const [index, segment] of path.entries()) {
    const additional: Described | boolean | undefined = at?.additionalProperties
    at = at?.properties?.[segment] ?? at?.items ?? (typeof additional === 'object' ? additional : undefined)
    if (at?.description !== undefined) found = { expectation: `must be ${at.description}`, depth: index + 1 }
  }
  return found
}
