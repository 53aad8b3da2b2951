import type { TSchema } from 'typebox'
import type { Scope } from '../api-tokens/api-token.ts'
import { catalogue, type ErrorCode } from '../errors.ts'
import { type Operation, replySchema } from './operation.ts'

type Json = Record<string, unknown>

interface Components {
  schemas: Json
  responses: Json
}

const everywhere: readonly ErrorCode[] = [
  'invalid_request',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
  'internal',
  'unavailable',
]
const withApiToken: readonly ErrorCode[] = [
  'unauthenticated',
  'invalid_api_token',
  'insufficient_scope',
  'rate_limited',
]
const withBody: readonly ErrorCode[] = ['invalid_json', 'missing_body', 'body_too_large', 'unsupported_media_type']

const headers = {
  'X-Request-Id': {
    required: true,
    schema: { type: 'string' },
    description: 'The X-Request-Id of the request, where that was one, or a new one; the log knows the request by it.',
  },
  'WWW-Authenticate': { required: true, schema: { type: 'string', const: 'Token' } },
  'Retry-After': { required: true, schema: { type: 'integer', minimum: 1 }, description: 'Seconds to wait.' },
  RateLimit: {
    schema: { type: 'string' },
    description:
      'Where requests are limited: how many are left now (r), and after how many seconds, where none is, there is one (t).',
  },
  'RateLimit-Policy': {
    schema: { type: 'string' },
    description: 'Where requests are limited: how many may come (q) within how many seconds (w).',
  },
} as const
type Header = keyof typeof headers

const ofStatus: Readonly<Record<number, readonly Header[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}
/** The answers that are given before it is known whose request it is. */
const uncounted: readonly number[] = [401, 408, 417, 431]

/** The OpenAPI 3.1 document: made from the declarations, so that it says what the service does. */
export function openApiDocument(operations: readonly Operation[], version: string): Json {
  const components: Components = { schemas: {}, responses: {} }
  const paths: Record<string, Json> = {}
  for (const declared of operations) {
    paths[declared.path] = {
      ...paths[declared.path],
      [declared.method.toLowerCase()]: describeOperation(declared, components),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'User Group Service',
      version,
      description:
        'Looks up, creates and rotates the user groups a software company shows its dashboards to, and tells whose token a dashboard was shown. Version 1 of the contract is frozen: additions are new optional fields and new paths.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      ...components,
      headers,
      securitySchemes: {
        apiToken: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The word Token, a space and an API token of your team: `Token uga_…`.',
        },
      },
    },
  }
}

function describeOperation(declared: Operation, components: Components): Json {
  const { body, query } = declared.scope === null ? {} : declared
  return {
    operationId: declared.id.replaceAll('.', '_'),
    summary: declared.summary,
    tags: [declared.path.split('/')[2] ?? 'health'],
    ...(declared.scope === null
      ? { security: [] }
      : {
          security: [{ apiToken: [] }],
          description: `${moreOf(declared)}Needs an API token of scope ${neededScope(declared.scope)}.`,
        }),
    parameters: [...pathParameters(declared.path), ...queryParameters(query)],
    ...(body && {
      requestBody: { required: true, content: json(hoist(body, components), declared.example.body) },
    }),
    responses: {
      200: {
        description: 'Done.',
        headers: headersOf(200, countsRequests(declared, 200)),
        content: json(hoist(replySchema(declared), components), { success: 1, ...declared.example.reply }),
      },
      ...errorResponses(declared, components),
    },
  }
}

/** What there is to say beyond the summary, and a space behind it. */
export function moreOf({ description }: Operation): string {
  return description === undefined ? '' : `${description} `
}

function neededScope(scope: Scope): string {
  return scope === 'admin' ? '`admin`' : `\`${scope}\` or \`admin\``
}

/** Every code the operation can answer with, in the order of the catalogue. */
export function errorCodes(declared: Operation): ErrorCode[] {
  const body = declared.scope !== null && declared.body !== undefined
  const possible = new Set([
    ...everywhere,
    ...declared.errors,
    ...(declared.scope === null ? [] : withApiToken),
    ...(body ? withBody : []),
  ])
  return (Object.keys(catalogue) as ErrorCode[]).filter((code) => possible.has(code))
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return {
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      description: 'Percent-encoded: a/b is a%2Fb.',
    }
  })
}

function queryParameters(query: TSchema | undefined): Json[] {
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, TSchema & { description?: string }> }
  return Object.entries(properties).map(([name, schema]) => {
    const { description, number, ...text } = plain(schema)
    const asNumber = number === undefined ? undefined : { type: 'integer', ...number }
    return { name, in: 'query', required: false, schema: asNumber ?? text, description }
  })
}

/** Operations that can fail in the same ways share the description of it. */
function errorResponses(declared: Operation, components: Components): Json {
  const responses: Json = {}
  for (const [status, here] of Map.groupBy(errorCodes(declared), (code) => catalogue[code].status)) {
    const isCounted = countsRequests(declared, status)
    const name = [...here, ...(isCounted || uncounted.includes(status) ? [] : ['without_api_token'])].join('.')
    components.responses[name] = errorResponse(here, headersOf(status, isCounted))
    responses[status] = { $ref: `#/components/responses/${name}` }
  }
  return responses
}

/** Whether an answer of that status may tell how many requests are left. */
function countsRequests({ scope }: Operation, status: number): boolean {
  return scope !== null && !uncounted.includes(status)
}

function headersOf(status: number, isCounted: boolean): Json {
  const rates: readonly Header[] = isCounted ? ['RateLimit', 'RateLimit-Policy'] : []
  const names: readonly Header[] = ['X-Request-Id', ...(ofStatus[status] ?? []), ...rates]
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function errorResponse(codes: readonly ErrorCode[], headers: Json): Json {
  const schema = {
    type: 'object',
    required: ['success', 'error', 'request_id'],
    properties: {
      success: { type: 'integer', const: 0 },
      error: {
        type: 'object',
        required: ['code', 'message'],
        properties: {
          code: { type: 'string', enum: codes },
          message: { type: 'string' },
          field: { type: 'string', description: 'The field at fault, where there is one.' },
        },
      },
      request_id: { type: 'string' },
    },
  }
  return {
    description: codes.map((code) => `\`${code}\`: ${catalogue[code].message}`).join('\n\n'),
    headers,
    content: { 'application/json': { schema } },
  }
}

function json(schema: unknown, example: unknown): Json {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } }
}

function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema))
}

/** A schema with a title is a thing of its own: it stands once among the components, and is referred to elsewhere. */
function hoist(schema: unknown, components: Components): unknown {
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, part]) => [key, replace(part)]))
    if (typeof inner.title !== 'string') return inner
    components.schemas[inner.title] = inner
    return { $ref: `#/components/schemas/${inner.title}` }
  }
  return replace(plain(schema))
}
