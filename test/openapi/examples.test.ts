import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Operation } from '../../src/http/operation.ts'
import { operations } from '../../src/operations.ts'
import type { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'

/** The examples tell one story; this is its order. Every operation has its place in it. */
const story = [
  'health.alive',
  'health.ready',
  'team.get',
  'schema.create',
  'schema.list',
  'schema.get',
  'data_source.create',
  'data_source.list',
  'data_source.get',
  'user_group.get_or_create',
  'user_group.list',
  'user_group.get',
  'token.verify',
  'user_group.rotate_token',
  'user_group.update',
  'data_source.update',
  'user_group.delete',
  'user_group.get_or_create_by_post',
  'data_source.delete',
  'schema.delete',
  'api_token.create',
  'api_token.list',
  'api_token.revoke',
  'event.list',
  'team.update',
]

/** Between the examples, what the story needs to go on. */
const interludes: Record<string, (caller: Caller) => Promise<unknown>> = {
  'data_source.delete': (caller) => caller.call('DELETE', '/api/user_groups/acme'),
}

describe('the examples of the OpenAPI document', () => {
  it('are there for every operation, in the story below', () => {
    assert.deepEqual([...story].sort(), operations.map(({ id }) => id).sort())
    for (const { id, example } of operations) assert.ok(example, `${id} has no example`)
  })
})

for (const engine of engines)
  describe(`the examples, sent as they are to the service on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)
    /** What the examples call by another value than this run does: tokens and made ids. */
    const known = new Map<string, string>()

    for (const id of story)
      it(`${id} answers as shown`, async () => {
        const declared = operations.find((operation) => operation.id === id)
        if (declared?.example === undefined) throw new Error(`${id} has no example`)
        await interludes[id]?.(caller)
        const answer = await send(caller, declared, known)
        assert.equal(answer.status, 200, JSON.stringify(answer.body))
        const shown = { success: 1, ...declared.example.reply }
        if (isPartOfMore(id)) {
          assert.deepEqual(shape(answer.body), shape(shown))
        } else {
          assert.deepEqual(steady(answer.body), steady(shown))
          learn(shown, answer.body, known)
        }
      })
  })

/** Lists that hold more than the example shows, as other examples have left something behind. */
function isPartOfMore(id: string): boolean {
  return id === 'event.list' || id === 'api_token.list'
}

function send(caller: Caller, { method, path, example }: Operation, known: Map<string, string>) {
  let text = JSON.stringify({ id: example?.id ?? '', body: example?.body })
  for (const [shown, real] of known) text = text.replaceAll(shown, real)
  const { id, body } = JSON.parse(text)
  const query = new URLSearchParams(example?.query).toString()
  const target = path.replace(/\{\w+\}/, encodeURIComponent(id)) + (query && `?${query}`)
  return caller.call(method, target, body === undefined ? {} : { json: body })
}

const volatile = /^(ug[ta]_\w{38}|ds_\w{20}|\d{15}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/

/** Remembers what stands in this run's answer where the example shows a token or an id. */
function learn(shown: unknown, real: unknown, known: Map<string, string>): void {
  if (typeof shown !== 'object' || shown === null) {
    if (volatile.test(String(shown))) known.set(String(shown), String(real))
    return
  }
  for (const [key, value] of Object.entries(shown)) learn(value, (real as Record<string, unknown>)?.[key], known)
}

function steady(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, part) => (volatile.test(String(part)) ? '(varies)' : part))
}

/** The kinds of the first entry's fields: a name under each key. */
function shape(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map((entry) => Object.keys(entry).slice(0, 4))
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shape(part)]))
}
