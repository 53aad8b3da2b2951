import assert from 'node:assert/strict'
import { it } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { serveMetrics } from './metrics-port.ts'

const log = pino({ level: 'silent' })

it('what is asked for beside the figures is refused as everywhere', async (t) => {
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', async () => 'figures', log)
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

it('figures that cannot be collected are answered as any failure is, logged with the cause, and end nothing', async (t) => {
  const failures = [new Error('a fault of ours'), new ServiceError('unavailable', { cause: new Error('no database') })]
  const collect = () => Promise.reject(failures.shift())
  const lines: string[] = []
  const served = await serveMetrics(
    readConfig({ UGS_METRICS_PORT: '0' }),
    'text/plain',
    collect,
    pino({}, { write: (line) => lines.push(line) }),
  )
  t.after(() => served?.close())
  for (const [status, code, retryAfter, cause] of [
    [500, 'internal', null, 'a fault of ours'],
    [503, 'unavailable', '1', 'no database'],
  ] as const) {
    const answer = await fetch(`http://127.0.0.1:${served?.port}/metrics`)
    assert.deepEqual([answer.status, JSON.parse(await answer.text()).error.code], [status, code])
    assert.equal(answer.headers.get('retry-after'), retryAfter)
    assert.ok(lines.pop()?.includes(cause))
  }
})
