import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

type Json = Record<string, unknown>

interface Described {
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: Json }> }>
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

type Check = { Check(value: unknown): boolean; Errors(value: unknown): unknown[] }
const compiled = new Map<string, Check | undefined>()

/** Fails when an answer is not what openapi.json says of it, to the key: so that the document cannot lie. */
export function assertAsDocumented(method: string, path: string, status: number, body: unknown): void {
  const template = templateOf(path.replace(/\?.*$/, '').replace(/(?<=.)\/$/, ''))
  const described = template && document.paths[template]?.[method.toLowerCase()]
  if (described === undefined) return
  const key = `${method} ${template} ${status}`
  if (!compiled.has(key)) compiled.set(key, compile(described, status))
  const check = compiled.get(key)
  assert.ok(check, `openapi.json does not say that ${method} ${template} can answer ${status}: ${JSON.stringify(body)}`)
  assert.ok(
    check.Check(body),
    `${key} is not as documented: ${JSON.stringify(body)} ${JSON.stringify(check.Errors(body))}`,
  )
}

function templateOf(path: string): string | undefined {
  if (document.paths[path] !== undefined) return path
  return Object.keys(document.paths).find((template) => {
    const parts = template.split('/')
    const given = path.split('/')
    return parts.length === given.length && parts.every((part, at) => part === given[at] || part.startsWith('{'))
  })
}

function compile({ responses }: Described, status: number): Check | undefined {
  const response = responses[status]
  if (response === undefined) return undefined
  const { content } =
    response.$ref === undefined ? response : (resolve(response.$ref) as Described['responses'][string])
  const schema = content?.['application/json']?.schema
  return schema && Compile(closed(schema) as TSchema)
}

function resolve(reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce((at: Json, key) => at[key] as Json, document)
}

/** For readers the schemas are open, as fields may be added; here a key that is not documented is a fault. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Json
  if (typeof $ref === 'string') return closed(resolve($ref))
  const inner = Object.fromEntries(Object.entries(rest).map(([key, part]) => [key, closed(part)]))
  const isObject = inner.type === 'object' && inner.properties !== undefined && inner.additionalProperties === undefined
  return isObject ? { ...inner, additionalProperties: false } : inner
}
