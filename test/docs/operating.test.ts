import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Metrics } from '../../src/http/metrics.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { logged } from '../support/logs.ts'
import { running } from '../support/running.ts'
import { inCode, rowsOf, tableIn } from './markdown.ts'

const path = 'docs/operating.md'

describe('docs/operating.md', () => {
  it('lists the metrics of src/http/metrics.ts, with their kinds', async () => {
    const metrics = new Metrics(() => ({ commits: 0, connections: 0, idle: 0, waiting: 0 }))
    const own = (await metrics.registry.getMetricsAsJSON()).filter(({ name }) => name.startsWith('ugs_'))
    const listed = rowsOf(tableIn(path, 'Name', 'Kind', 'Labels', 'Meaning')).map(([name, kind]) => [name, kind])
    assert.deepEqual(
      listed,
      own.map(({ name, type }) => [inCode(name), String(type)]),
    )
  })

  it('lists the fields of the log line of a request', async (t) => {
    const [sqlite] = engines
    assert.ok(sqlite)
    const { caller, service } = await running(t, sqlite)
    await caller.getOrCreate('acme')
    const line = await eventually('a log line of the request', () =>
      service
        .output()
        .stdout.split('\n')
        .find((text) => text.endsWith('"msg":"request"}')),
    )
    const listed = rowsOf(tableIn(path, 'Field', 'Meaning')).map(([field]) => field)
    assert.deepEqual(listed, Object.keys(JSON.parse(line)).map(inCode))
  })

  it('promises a log line of every request, the refused ones too, with who it was once that is known', async (t) => {
    const [sqlite] = engines
    assert.ok(sqlite)
    const { caller, service } = await running(t, sqlite, { UGS_AUTH_FAILURE_LIMIT: '1' })
    const { body } = await caller.call('POST', '/api/api_tokens', { json: { name: 'verifier', scopes: ['verify'] } })
    const sent: string[] = []
    const ask = (id: string, authorization: string, method = 'GET') => {
      sent.push(id)
      return caller.call(method, '/api/user', { headers: { authorization, 'x-request-id': id } })
    }
    await ask('nobody', 'Token wrong')
    await ask('nobody-again', 'Token wrong')
    await ask('without-scope', `Token ${body.api_token.token}`)
    await ask('other-method', `Token ${body.api_token.token}`, 'PUT')
    const found = await eventually('a line of each', () => {
      const lines = logged(service).filter(({ request_id }) => sent.includes(String(request_id)))
      return lines.length === sent.length && lines
    })
    assert.deepEqual(
      found.map(({ request_id, status, api_token_id }) => [request_id, status, String(api_token_id)]),
      [
        ['nobody', 401, 'undefined'],
        ['nobody-again', 429, 'undefined'],
        ['without-scope', 403, String(body.api_token.id)],
        ['other-method', 405, 'undefined'],
      ],
    )
  })
})
