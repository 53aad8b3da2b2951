import type { TeamOperation } from '../src/http/operation.ts'
import { operations } from '../src/operations.ts'
import type { RawRequest } from '../test/support/raw-request.ts'

/** A place in a request where a value of somebody else's can be put. */
export interface Slot {
  operation: TeamOperation
  at: 'authorization' | 'path' | 'query' | 'value' | 'key'
  /** The parameter of a query, or the way to a value or a key in the body. */
  way: readonly string[]
  /** What the example has there. */
  example: string
}

const order: readonly Slot['at'][] = ['authorization', 'path', 'query', 'value', 'key']

/**
 * Every place in every operation of a team, so that one added tomorrow is tried tomorrow. Paths come before bodies: what
 * those create under the same name would be found by them.
 */
export const slots: readonly Slot[] = operations
  .filter((operation): operation is TeamOperation => operation.scope !== null)
  .flatMap((operation) => [
    ...slot(operation, 'path', operation.example?.id),
    ...inBody(operation, operation.example?.body, []),
    ...Object.keys((operation.query as { properties?: object } | undefined)?.properties ?? {}).flatMap((name) =>
      slot(operation, 'query', name === 'cursor' ? 'a cursor' : 'a parameter', [name]),
    ),
    ...slot(operation, 'authorization', 'an API token'),
  ])
  .sort((a, b) => order.indexOf(a.at) - order.indexOf(b.at))

function slot(
  operation: TeamOperation,
  at: Slot['at'],
  example: string | undefined,
  way: readonly string[] = [],
): Slot[] {
  return example === undefined ? [] : [{ operation, at, way, example }]
}

function inBody(operation: TeamOperation, value: unknown, way: readonly string[]): Slot[] {
  if (typeof value !== 'object' || value === null)
    return way.length === 0 ? [] : slot(operation, 'value', String(value), way)
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(way.length === 0 ? [] : slot(operation, 'key', key, [...way, key])),
    ...inBody(operation, inner, [...way, key]),
  ])
}

/** The example of the slot's operation in the caller's own words, but for the slot. */
export function requestWith(
  { operation, at, way }: Slot,
  value: string,
  apiToken: string,
  inOwnWords: (text: string) => string,
): RawRequest {
  const { method, path, example } = operation
  const id = at === 'path' ? value : inOwnWords(example?.id ?? '')
  const query = at === 'query' ? new URLSearchParams({ [way[0] ?? '']: value }).toString() : ''
  const body =
    example?.body === undefined
      ? ''
      : bodyWith(JSON.parse(inOwnWords(JSON.stringify(example.body))), at, ownWay(way, inOwnWords), value)
  return {
    method,
    path: path.replace(/\{\w+\}/, () => encodeURIComponent(id)) + (query && `?${query}`),
    headers: [
      ['Host', 'test'],
      ['Authorization', `Token ${at === 'authorization' ? value : apiToken}`],
      ...(body === ''
        ? []
        : ([
            ['Content-Type', 'application/json'],
            ['Content-Length', String(Buffer.byteLength(body))],
          ] as const)),
    ],
    body: Buffer.from(body),
  }
}

/** The keys on the way may be names of the caller's own too. */
function ownWay(way: readonly string[], inOwnWords: (text: string) => string): string[] {
  return way.map((key, index) => (index === 0 ? key : inOwnWords(key)))
}

function bodyWith(body: Record<string, unknown>, at: Slot['at'], way: readonly string[], value: string): string {
  const last = way.at(-1) ?? ''
  const holder = way.slice(0, -1).reduce((inner, key) => inner[key] as Record<string, unknown>, body)
  if (at === 'value') holder[last] = value
  if (at === 'key') {
    holder[value] = holder[last]
    delete holder[last]
  }
  return JSON.stringify(body)
}
