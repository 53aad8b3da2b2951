import assert from 'node:assert/strict'
import { it } from 'node:test'
import { readConfig } from '../config.ts'
import { serveMetrics } from './metrics-port.ts'

it('what is asked for beside the figures is refused as everywhere', async (t) => {
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', async () => 'figures')
  t.after(() => served?.close())
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${served?.port}${path}`, { method })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    assert.match(answer.headers.get('x-request-id') ?? '', /^[\w-]{36}$/)
    return { answer, text: await answer.text() }
  }
  for (const path of ['/metrics', '/metrics/', '/metrics?x=1']) assert.equal((await ask(path)).text, 'figures')
  assert.equal(JSON.parse((await ask('/healthz')).text).error.code, 'not_found')
  const { answer, text } = await ask('/metrics', 'POST')
  assert.deepEqual([answer.headers.get('allow'), JSON.parse(text).error.code], ['GET', 'method_not_allowed'])
})

it('figures that cannot be collected are answered with 503, and end nothing', async (t) => {
  const collect = () => Promise.reject(new Error('no figures'))
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', collect)
  t.after(() => served?.close())
  const answer = await fetch(`http://127.0.0.1:${served?.port}/metrics`)
  assert.deepEqual([answer.status, JSON.parse(await answer.text()).error.code], [503, 'unavailable'])
})
