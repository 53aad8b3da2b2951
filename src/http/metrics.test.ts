import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Metrics } from './metrics.ts'

it('a duration is counted in its bucket and in all above, by operation', async () => {
  const metrics = new Metrics(() => ({ commits: 7, connections: 3, idle: 2, waiting: 1 }))
  for (const seconds of [0.001, 0.002, 20]) metrics.count('token.verify', 200, seconds)
  metrics.count('token.verify', 400, 0.5)
  metrics.count('none', 400, 0)
  const text = await metrics.registry.metrics()
  const shown = (name: string) => text.split('\n').filter((line) => line.startsWith(name))
  assert.deepEqual(shown('ugs_requests_total'), [
    'ugs_requests_total{operation="token.verify",status="200"} 3',
    'ugs_requests_total{operation="token.verify",status="400"} 1',
    'ugs_requests_total{operation="none",status="400"} 1',
  ])
  const buckets = shown('ugs_request_duration_seconds_bucket').filter((line) => line.includes('token.verify'))
  const atMost = (le: string) =>
    buckets
      .find((line) => line.includes(`le="${le}"`))
      ?.split(' ')
      .at(-1)
  assert.deepEqual(['0.0005', '0.001', '0.0025', '0.25', '0.5', '10', '+Inf'].map(atMost), [
    ...['0', '1', '2', '2', '3', '3', '4'],
  ])
  assert.equal(shown('ugs_request_duration_seconds_count{operation="token.verify"}')[0]?.split(' ').at(-1), '4')
  assert.equal(shown('ugs_request_duration_seconds_sum{operation="token.verify"}')[0]?.split(' ').at(-1), '20.503')
  assert.deepEqual(
    ['ugs_commits_total', 'ugs_database_connections', 'ugs_database_idle', 'ugs_database_waiting'].flatMap(shown),
    ['ugs_commits_total 7', 'ugs_database_connections 3', 'ugs_database_idle 2', 'ugs_database_waiting 1'],
  )
})
