import { readFileSync } from 'node:fs'

/** As much of JSON Schema as openapi.json uses for what comes in. */
export interface FieldSchema {
  type?: string | string[]
  enum?: unknown[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  items?: FieldSchema
  minItems?: number
  uniqueItems?: boolean
  maxProperties?: number
  propertyNames?: FieldSchema
  additionalProperties?: boolean | FieldSchema
}

export interface BodySchema {
  required?: string[]
  properties: Record<string, FieldSchema>
}

export interface DescribedOperation {
  method: string
  /** With {…} for the part that is an id. */
  path: string
  hasId: boolean
  query: Record<string, FieldSchema>
  body?: { schema: BodySchema; example: Record<string, unknown> }
}

interface Parameter {
  name: string
  in: 'path' | 'query'
  schema: FieldSchema
}

interface RawOperation {
  parameters?: Parameter[]
  requestBody?: {
    content: Record<string, { schema: BodySchema & { $ref?: string }; example: Record<string, unknown> }>
  }
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** Every operation of a team's interface that the service documents, so that one added tomorrow is tested tomorrow. */
export const operations: readonly DescribedOperation[] = Object.entries<Record<string, RawOperation>>(document.paths)
  .filter(([path]) => path.startsWith('/api/'))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => describe(method.toUpperCase(), path, raw)),
  )

function describe(method: string, path: string, { parameters = [], requestBody }: RawOperation): DescribedOperation {
  const content = requestBody?.content['application/json']
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query')
  return {
    method,
    path,
    hasId: path.includes('{'),
    query: Object.fromEntries(ofQuery.map(({ name, schema }) => [name, schema])),
    ...(content && { body: { schema: named(content.schema), example: content.example } }),
  }
}

function named(schema: BodySchema & { $ref?: string }): BodySchema {
  const name = schema.$ref?.split('/').at(-1)
  return name === undefined ? schema : document.components.schemas[name]
}
