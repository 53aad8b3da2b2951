import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Metrics } from '../../src/http/metrics.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
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
})
