import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Example } from '../src/http/operation.ts'
import { operations } from '../src/operations.ts'
import { allRows } from './support/all-rows.ts'
import type { Caller } from './support/caller.ts'
import { engines } from './support/engines.ts'
import { type Mutation, mutations } from './support/mutations.ts'
import { type RawRequest, send } from './support/raw-request.ts'
import { assertRefusedInShape } from './support/refused-in-shape.ts'
import { running } from './support/running.ts'
import { type Environment, testApiToken } from './support/service-process.ts'

const runs = Number(process.env.FUZZ_RUNS ?? 100)

/** Makes all that the examples of the operations name, and returns what their made-up ids stand for. */
async function furnish(caller: Caller): Promise<(text: string) => string> {
  await caller.call('PATCH', '/api/team', { json: { strict_mapping: false } })
  await caller.call('POST', '/api/schemas', { json: { id: 'sales', name: 'Sales' } })
  const source = { schema_id: 'sales', provided_id: 'acme-db', name: 'Acme DB' }
  await caller.call('POST', '/api/data_sources', { json: source })
  const { body } = await caller.getOrCreate('acme', { mapping: { sales: 'acme-db' } })
  const found = await caller.call('GET', '/api/data_sources/acme-db')
  const apiToken = await caller.call('POST', '/api/api_tokens', { json: { name: 'ci', scopes: ['verify'] } })
  return (text) =>
    text
      .replaceAll(/ugt_\w{38}/g, body.user_group.token)
      .replaceAll(/ds_\w{20}/g, found.body.data_source.id)
      .replaceAll(/\b\d{15}\b/g, String(apiToken.body.api_token.id))
}

/** The example of an operation, as a request that would be granted. */
function validRequest(method: string, path: string, example: Example | undefined, rename: (text: string) => string) {
  const body = example?.body === undefined ? '' : rename(JSON.stringify(example.body))
  const query = new URLSearchParams(example?.query).toString()
  const request: RawRequest = {
    method,
    path: path.replace(/\{\w+\}/, encodeURIComponent(rename(example?.id ?? ''))) + (query && `?${query}`),
    headers: [
      ['Host', 'test'],
      ['Authorization', `Token ${testApiToken}`],
    ],
    body: Buffer.from(body),
  }
  if (body !== '')
    request.headers.push(['Content-Type', 'application/json'], ['Content-Length', String(Buffer.byteLength(body))])
  return request
}

/** All that is stored, but for when an API token was last used, which even a refused request may tell. */
async function stored(environment: Environment): Promise<string> {
  return (await allRows(environment)).join('\n').replaceAll(/"last_used_at":\w+/g, '')
}

const [first] = operations
assert.ok(first)
/** One as it should be and one that is no JSON, so that both answers come, whatever chance makes of the others. */
const examples: [typeof first, Mutation[]][] = [
  [first, []],
  [first, [(request) => ({ ...request, body: request.body.fill('x') })]],
]

for (const engine of engines)
  describe(`a request that is not quite right, to the service on ${engine.name}`, async () => {
    const { caller, service, environment } = await running(undefined, engine, { UGS_LOG_LEVEL: 'error' })
    const declared = fc.constantFrom(...operations)

    it('is granted, or refused in the one shape, and then it has changed nothing', async (t) => {
      const outcomes = new Map<number, number>()
      let rename = await furnish(caller)
      let before = await stored(environment)
      await fc.assert(
        fc.asyncProperty(declared, mutations, async ({ method, path, example }, mutations) => {
          const valid = validRequest(method, path, example, rename)
          const request = mutations.reduce((spoilt, mutate) => mutate(spoilt), valid)
          const answer = await send(service.url, request)
          outcomes.set(answer.status, (outcomes.get(answer.status) ?? 0) + 1)
          if (answer.status === 200) {
            rename = await furnish(caller)
            before = await stored(environment)
          } else {
            assertRefusedInShape(answer, request.method)
            assert.equal(await stored(environment), before, 'a refused request changed something')
          }
        }),
        { numRuns: runs, examples },
      )
      t.diagnostic(`answers: ${[...outcomes].sort().map(([status, count]) => `${status} × ${count}`)}`)
      assert.ok((outcomes.get(400) ?? 0) > 0 && (outcomes.get(200) ?? 0) > 0)
    })

    it('has left the service alive, with nothing in its log of errors', async () => {
      assert.equal((await caller.call('GET', '/readyz')).status, 200)
      assert.equal(service.output().stdout, '')
    })
  })
