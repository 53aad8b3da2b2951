import { METHODS } from 'node:http'
import fc from 'fast-check'
import type { RawRequest } from './raw-request.ts'

/** One way to spoil a request. */
export type Mutation = (request: RawRequest) => RawRequest

/** JSON texts of every type, and some that no careful parser takes. */
export const jsonText = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    ...['null', 'true', '0', '-1', '1.5', '1e400', '12345678901234567890', '""', '" "', '[]', '{}', '[[]]', '-0'],
    ...['"\\u0000"', '"\\ud800"', '"\u0007"', '01', 'NaN', '', "'a'", '{"a":1,"a":2}', '{"__proto__":{"a":1}}'],
    JSON.stringify('x'.repeat(256)),
    JSON.stringify('x'.repeat(70_000)),
    `${'['.repeat(40)}${']'.repeat(40)}`,
    `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  ),
)

const fieldName = fc.oneof(
  fc.constantFrom('user_group_id', 'name', 'mapping', 'properties', 'current_token', 'grace_seconds', 'token', 'id'),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'filename', 'provided_id', 'disabled', 'scopes', ''),
  fc.string(),
)

/** Works on the fields of a body that is an object; leaves any other alone. */
function onFields(change: (fields: [name: string, text: string][]) => [name: string, text: string][]): Mutation {
  return (request) => {
    let fields: [string, string][]
    try {
      const parsed: unknown = JSON.parse(request.body.toString())
      if (typeof parsed !== 'object' || parsed === null) return request
      fields = Object.entries(parsed).map(([name, value]) => [name, JSON.stringify(value)])
    } catch {
      return request
    }
    const text = change(fields).map(([name, value]) => `${JSON.stringify(name)}:${value}`)
    return withBody(request, Buffer.from(`{${text.join(',')}}`))
  }
}

/** Leaves a length alone that another mutation has spoilt. */
function withBody(request: RawRequest, body: Buffer): RawRequest {
  const old = String(request.body.length)
  const headers = request.headers.map(([name, value]) =>
    name === 'Content-Length' && value === old ? ([name, String(body.length)] as const) : ([name, value] as const),
  )
  return { ...request, headers, body }
}

function flip(bytes: Buffer, at: number): Buffer {
  const flipped = Buffer.from(bytes)
  const place = bytes.length === 0 ? 0 : at % (bytes.length * 8)
  if (bytes.length > 0) flipped[place >> 3] = (flipped[place >> 3] ?? 0) ^ (1 << (place & 7))
  return flipped
}

const bodies: fc.Arbitrary<Mutation>[] = [
  fc
    .tuple(fc.nat(), jsonText)
    .map(([at, text]) =>
      onFields((fields) => fields.map(([name, value], index) => [name, index === at % fields.length ? text : value])),
    ),
  fc.nat().map((at) => onFields((fields) => fields.filter((_, index) => index !== at % fields.length))),
  fc.tuple(fieldName, jsonText).map(([name, text]) => onFields((fields) => [...fields, [name, text]])),
  fc
    .tuple(fieldName, fieldName)
    .map(([from, to]) => onFields((fields) => fields.map(([name, text]) => [name === from ? to : name, text]))),
  jsonText.map((text) => (request) => withBody(request, Buffer.from(text))),
  fc.uint8Array({ maxLength: 50 }).map((bytes) => (request) => withBody(request, Buffer.from(bytes))),
  fc.nat().map((at) => (request) => withBody(request, flip(request.body, at))),
  fc.nat().map((at) => (request) => withBody(request, request.body.subarray(0, at % (request.body.length + 1)))),
  fc.constant((request) => ({ ...request, body: request.body.subarray(0, -3) })),
  fc.constant((request) => withBody(request, Buffer.concat([request.body, request.body]))),
  fc.constant((request) => withBody(request, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), request.body]))),
]

const oddHeaders: [name: string, value: string][] = [
  ...['banana', '100-continue'].map((value): [string, string] => ['Expect', value]),
  ...['gzip', 'identity', 'br, gzip', ''].map((value): [string, string] => ['Content-Encoding', value]),
  ...['chunked', 'gzip, chunked', 'identity'].map((value): [string, string] => ['Transfer-Encoding', value]),
  ...['0', '1', '-1', '9999999', '0x10', '5, 6', ''].map((value): [string, string] => ['Content-Length', value]),
  ...[
    'text/plain',
    'application/json; charset=latin1',
    'application/json; charset="utf-8"',
    'application/jsonp',
    ';',
  ].map((value): [string, string] => ['Content-Type', value]),
  ...['Token', 'Bearer x', 'Token x', 'Token  a b', 'token \x00', `Token ${'x'.repeat(5_000)}`, ''].map(
    (value): [string, string] => ['Authorization', value],
  ),
  ...['', 'a b', '[::1', '\xff'].map((value): [string, string] => ['Host', value]),
  ...['upgrade', 'close', 'keep-alive, te'].map((value): [string, string] => ['Connection', value]),
  ...['websocket', 'h2c'].map((value): [string, string] => ['Upgrade', value]),
  ...['x'.repeat(200), '\xe9', 'a\tb'].map((value): [string, string] => ['X-Request-Id', value]),
  ...[
    ['Accept-Version', '9'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['X-Forwarded-For', '1'],
    ['Range', 'bytes=0-1'],
  ].map(([name = '', value = '']): [string, string] => [name, value]),
  ['X-Large', 'x'.repeat(20_000)],
  ['Bad Name', 'x'],
  ['X-Injected', 'a\r\n b'],
]

const heads: fc.Arbitrary<Mutation>[] = [
  fc.constantFrom(...oddHeaders).map(([name, value]) => (request) => ({
    ...request,
    headers: [...request.headers.filter(([known]) => known !== name), [name, value] as const],
  })),
  fc.constantFrom(...oddHeaders).map((header) => (request) => ({ ...request, headers: [...request.headers, header] })),
  fc.nat().map((at) => (request) => {
    return { ...request, headers: request.headers.filter((_, index) => index !== at % request.headers.length) }
  }),
  fc.constantFrom(...METHODS, 'get', 'FOO', '').map((method) => (request) => ({ ...request, method })),
  fc
    .constantFrom(
      '/',
      '//',
      '/..',
      '/%',
      '%00',
      '%2F',
      '%ff',
      '?',
      '?limit=x',
      '?a=%',
      '#x',
      ';x',
      '/x/y',
      '\x7f',
      ' ',
      'é',
    )
    .map((more) => (request) => ({ ...request, path: request.path + more })),
  fc
    .constantFrom('', '*', 'x', '//', '/api/../api/user', 'http://x/api/user', `/${'a'.repeat(9_000)}`, '/api/user%')
    .map((path) => (request) => ({ ...request, path })),
  fc.nat().map((at) => (request) => ({ ...request, path: flip(Buffer.from(request.path), at).toString('latin1') })),
]

/** One to three mutations, most of them of the body. */
export const mutations: fc.Arbitrary<Mutation[]> = fc.array(fc.oneof(fc.oneof(...bodies), fc.oneof(...heads)), {
  minLength: 1,
  maxLength: 3,
})
