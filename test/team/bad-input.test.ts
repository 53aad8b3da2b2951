import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { assertError, assertErrorShape, assertRefused } from '../contract/expectations.ts'
import type { Answer, Call } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { furnish } from './furnish.ts'
import { type DescribedOperation, operations } from './operations.ts'
import { Team } from './team.ts'
import { isText, numberThatLosesDigits, wrongValues } from './wrong-values.ts'

const noJson = [
  '{',
  '{"a":1',
  '[1,]',
  "{'a':1}",
  'x',
  '{"a":1}{',
  '{"a":\u0007}',
  '\ufeff',
  '{"a":"\n"}',
  'undefined',
  'NaN',
]
const noObjects = ['[]', '[{}]', '"x"', '42', 'null', 'true', '""']
const unknownIds = [
  ...['nobody', '0', '-1', '1', '1e3', '999999999999999999999', '%20', '%2F', '%25', "'%20or%201=1--", 'ds_x', 'ACME'],
  ...['%00', 'acme%00', '%0A', '%1F', '%7F', '%C2%85', 'x'.repeat(256), 'x'.repeat(5_000), '%F0%9F%98%80'.repeat(400)],
]
const noPercentEncoding = [
  '%',
  '%zz',
  '%f',
  'acme%',
  '%ff',
  '%C3',
  '%C3%28',
  '%ED%A0%80',
  '%u0041',
  '%F5%80%80%80',
  '%2',
]
const noNumbers = [
  '',
  '0',
  '-1',
  '1.5',
  '1e1',
  '0x1',
  ' 1',
  '1 ',
  '+1',
  '01',
  'all',
  'null',
  '201',
  '9'.repeat(40),
  '１',
  '\u0000',
]
const noCursors = ['x', 'AAAA', 'eyJpZCI6MX0', 'A'.repeat(64), 'A'.repeat(5_000), "'", '😀', ' ']

for (const engine of engines)
  describe(`bad input on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)
    const team = new Team(caller)
    const { token, ids } = await furnish(team)
    const before = await everythingOf(team, token)

    const target = ({ path }: DescribedOperation, id = ids[collectionOf(path)] ?? 'acme') => path.replace(/\{\w+\}/, id)
    const goodBody = ({ body }: DescribedOperation): Record<string, unknown> =>
      JSON.parse(JSON.stringify(body?.example).replaceAll(/ugt_\w{38}/g, token))
    const send = (operation: DescribedOperation, call: Call, path = target(operation)) =>
      caller.call(operation.method, path, call)
    /** Says what was sent when the answer is not the one that is due. */
    const assertStatus = (answer: Answer, status: number, sent: unknown) => {
      const told = `${JSON.stringify(sent).slice(0, 100)} was answered with ${answer.status} ${JSON.stringify(answer.body)}`
      assert.equal(answer.status, status, told)
      assertErrorShape(answer)
    }
    const nothingChanges = async (play: () => Promise<void>) => {
      await play()
      assert.deepEqual(await everythingOf(team, token), before)
    }

    for (const operation of operations) {
      const name = `${operation.method} ${operation.path}`
      const { body } = operation

      if (body) {
        for (const [field, schema] of Object.entries(body.schema.properties))
          it(`${name} refuses a ${field} of a wrong type, length or content, and names it`, () =>
            nothingChanges(async () => {
              for (const value of wrongValues(schema)) {
                const json = JSON.stringify({ ...goodBody(operation), [field]: value })
                const text = json.replaceAll(`"${numberThatLosesDigits}"`, numberThatLosesDigits.replaceAll('@', ''))
                assertRefused(await send(operation, { text }), field, value)
              }
            }))

        for (const field of body.schema.required ?? [])
          it(`${name} asks for the ${field} that is missing`, () =>
            nothingChanges(async () => {
              const { [field]: missing, ...rest } = goodBody(operation)
              assertRefused(await send(operation, { json: rest }), field, missing)
              assertStatus(await send(operation, { json: {} }), 400, {})
            }))

        it(`${name} refuses a body that is missing, no JSON, no object, too large or of another type`, () =>
          nothingChanges(async () => {
            assertStatus(await send(operation, {}), 400, 'no body')
            for (const text of ['', ...noJson, ...noObjects]) assertStatus(await send(operation, { text }), 400, text)
            const bytes = Buffer.from('{"name":"\xff"}', 'latin1')
            assertStatus(await send(operation, { text: bytes }), 400, 'no UTF-8')
            const large = { ...goodBody(operation), more: 'x'.repeat(256 * 1024) }
            assertStatus(await send(operation, { json: large }), 413, 'a large body')
            const headers = { 'content-type': 'text/plain' }
            assertStatus(await send(operation, { json: goodBody(operation), headers }), 415, headers)
          }))
      }

      if (operation.method === 'PATCH')
        it(`${name} refuses a patch of nothing`, () =>
          nothingChanges(async () => {
            for (const json of [{}, { nothing_it_knows: 1 }]) assertStatus(await send(operation, { json }), 400, json)
          }))

      if (!body)
        it(`${name} refuses a body`, () =>
          nothingChanges(async () => {
            for (const text of ['{}', '[]', 'null', '{"name":"x"}', `{"a":"${'x'.repeat(1_000)}"}`])
              assertStatus(await send(operation, { text }), 400, text)
          }))

      if (!body)
        it(`${name} refuses a body of any other kind too`, () =>
          nothingChanges(async () => {
            for (const text of noJson) assertStatus(await send(operation, { text }), 400, text)
            for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense'])
              assertStatus(await send(operation, { text: 'a=b', headers: { 'content-type': type } }), 400, type)
            assertStatus(await send(operation, { text: ' '.repeat(300 * 1024) }), 400, 'a large body')
          }))

      if (operation.hasId) {
        const call = body ? { json: goodBody(operation) } : {}
        it(`${name} does not find an id that nobody has, or that cannot be one`, () =>
          nothingChanges(async () => {
            for (const id of unknownIds) assertStatus(await send(operation, call, target(operation, id)), 404, id)
          }))

        it(`${name} refuses an id that is no percent-encoding`, () =>
          nothingChanges(async () => {
            for (const id of noPercentEncoding)
              assertStatus(await send(operation, call, target(operation, id)), 400, id)
          }))
      }

      for (const [parameter, schema] of Object.entries(operation.query))
        it(`${name} refuses a bad ${parameter}, and names it`, () =>
          nothingChanges(async () => {
            const { type, minimum = 0, maximum = 0 } = schema
            const most = type === 'integer' ? [maximum, minimum] : []
            for (const value of most)
              assert.equal((await send(operation, {}, `${target(operation)}?${parameter}=${value}`)).status, 200)
            const tooMuch = most.map(() => String(maximum + 1))
            const bad = [...noNumbers, ...noCursors, 'x'.repeat(256), ...tooMuch].filter(
              (value) => !isGood(parameter, schema, value),
            )
            assert.ok(bad.length > 0)
            for (const value of bad)
              assertRefused(
                await send(operation, {}, `${target(operation)}?${parameter}=${encodeURIComponent(value)}`),
                parameter,
                value,
              )
            const twice = `${target(operation)}?${parameter}=1&${parameter}=2`
            assertRefused(await send(operation, {}, twice), parameter, 'given twice')
          }))

      if (Object.keys(operation.query).length > 0)
        it(`${name} refuses a parameter it does not know, and names it and those it does`, () =>
          nothingChanges(async () => {
            const refused = await send(operation, {}, `${target(operation)}?limit=1&page=2`)
            assertError(refused, 400, 'invalid_request', 'page')
            for (const known of Object.keys(operation.query))
              assert.match(refused.body.error.message, RegExp(`\\b${known}\\b`))
            const [right, wrong] = 'after' in operation.query ? ['after', 'cursor'] : ['cursor', 'after']
            const mistaken = await send(operation, {}, `${target(operation)}?limit=1&${wrong}=1`)
            assertError(mistaken, 400, 'invalid_request', wrong)
            assert.match(mistaken.body.error.message, RegExp(`^This list calls it ${right}, not ${wrong}\\.`))
          }))

      for (const parameter of Object.keys(operation.query))
        it(`${name} refuses a ${parameter} that is no percent-encoding`, () =>
          nothingChanges(async () => {
            for (const value of noPercentEncoding)
              assertStatus(await send(operation, {}, `${target(operation)}?${parameter}=${value}`), 400, value)
          }))
    }

    it('is tried on every operation there is', () => {
      assert.ok(operations.length >= 23, `${operations.length} operations`)
      assert.ok(operations.filter(({ body }) => body).length >= 10)
      assert.ok(operations.filter(({ hasId }) => hasId).length >= 9)
    })
  })

/** A cursor is only good when the list gave it, whatever its letters. */
function isGood(parameter: string, schema: DescribedOperation['query'][string], value: string): boolean {
  if (schema.type !== 'integer') return parameter !== 'cursor' && isText(schema, value)
  const { minimum = 0, maximum = 0 } = schema
  return /^(0|[1-9]\d*)$/.test(value) && Number(value) >= minimum && Number(value) <= maximum
}

function collectionOf(path: string): string {
  return path.split('/')[2] ?? ''
}

async function everythingOf(team: Team, token: string) {
  const paths = ['/api/user_groups', '/api/schemas', '/api/data_sources', '/api/api_tokens', '/api/team', '/api/events']
  const answers = await Promise.all([...paths.map((path) => team.send('GET', path)), team.verify(token)])
  return answers.map(({ status, body }) => {
    assert.equal(status, 200)
    return JSON.stringify(body).replaceAll(/"last_used_at":("[^"]+"|null)/g, '')
  })
}
