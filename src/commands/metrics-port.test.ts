import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readConfig } from '../config.ts'
import { serveMetrics } from './metrics-port.ts'

it('figures that cannot be collected are answered with 503, and end nothing', async (t) => {
  const collect = () => Promise.reject(new Error('no figures'))
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', collect)
  t.after(() => served?.close())
  const { status } = await fetch(`http://127.0.0.1:${served?.port}/metrics`)
  assert.equal(status, 503)
})
