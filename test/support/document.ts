import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
// Not typebox/compile, which checks the same way and takes twice as long to load: every test file does.
import { Compile } from 'typebox/schema'

type Json = Record<string, unknown>

interface Response {
  headers?: Record<string, { $ref: string }>
  content?: Record<string, { schema: Json }>
}

interface Header {
  required?: boolean
  schema: { type: string; const?: string; minimum?: number }
}

interface Described {
  responses: Record<string, Response & { $ref?: string }>
}

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

type Check = ReturnType<typeof Compile>
const compiled = new Map<string, Check | undefined>()

/** Fails when an answer is not what openapi.json says of it, to the key: so that the document cannot lie. */
export function assertAsDocumented(method: string, path: string, status: number, body: unknown): void {
  const { template, described } = find(method, path)
  if (described === undefined) return
  const key = `${method} ${template} ${status}`
  if (!compiled.has(key)) compiled.set(key, compile(described, status))
  const check = compiled.get(key)
  assert.ok(check, `openapi.json does not say that ${method} ${template} can answer ${status}: ${JSON.stringify(body)}`)
  assert.ok(
    check.Check(body),
    `${key} is not as documented: ${JSON.stringify(body)} ${JSON.stringify(check.Errors(body)[1])}`,
  )
}

const told = ['Allow', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'WWW-Authenticate', 'X-Request-Id']

/** Fails when an answer lacks a header that openapi.json promises, has another value, or has one that it keeps quiet about. */
export function assertHeadersAsDocumented(method: string, path: string, status: number, sent: Headers): void {
  const { template, described } = find(method, path)
  if (described === undefined) return
  const { headers = {} } = responseOf(described, status) ?? {}
  const where = `${method} ${template} ${status}`
  for (const [name, { $ref }] of Object.entries(headers)) {
    const { required, schema } = resolve($ref) as Header
    const value = sent[name.toLowerCase()]
    if (value === undefined) assert.ok(!required, `${where} came without ${name}`)
    else assert.ok(fits(schema, String(value)), `${where} came with ${name}: ${value}`)
  }
  for (const name of told)
    assert.ok(!(name.toLowerCase() in sent) || name in headers, `openapi.json does not tell of ${name} in ${where}`)
}

type Headers = Record<string, string | string[] | undefined>

function fits({ type, const: only = '', minimum = 0 }: Header['schema'], value: string): boolean {
  if (type === 'integer') return /^\d+$/.test(value) && Number(value) >= minimum
  return value !== '' && (only === '' || value === only)
}

function find(method: string, path: string): { template: string | undefined; described: Described | undefined } {
  const template = templateOf(path.replace(/\?.*$/, '').replace(/(?<=.)\/$/, ''))
  return { template, described: template && document.paths[template]?.[method.toLowerCase()] }
}

function templateOf(path: string): string | undefined {
  if (document.paths[path] !== undefined) return path
  return Object.keys(document.paths).find((template) => {
    const parts = template.split('/')
    const given = path.split('/')
    return parts.length === given.length && parts.every((part, at) => part === given[at] || part.startsWith('{'))
  })
}

function compile(described: Described, status: number): Check | undefined {
  const schema = responseOf(described, status)?.content?.['application/json']?.schema
  return schema && Compile(closed(schema) as Json)
}

function responseOf({ responses }: Described, status: number): Response | undefined {
  const response = responses[status]
  return response?.$ref === undefined ? response : (resolve(response.$ref) as Response)
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
