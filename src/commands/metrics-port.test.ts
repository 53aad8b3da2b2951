import assert from 'node:assert/strict'
import { connect } from 'node:net'
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

it('those who ask at once get figures that were collected once', async (t) => {
  let collected = 0
  const collect = async () => {
    collected += 1
    return String(collected)
  }
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', collect, log)
  t.after(() => served?.close())
  const ask = async () => (await fetch(`http://127.0.0.1:${served?.port}/metrics`)).text()
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['1', '1', '1'])
  assert.equal(await ask(), '2')
})

it('who asks for more than they read is cut off, and what is no HTTP is answered in the one shape', async (t) => {
  const served = await serveMetrics(readConfig({ UGS_METRICS_PORT: '0' }), 'text/plain', async () => 'figures', log)
  t.after(() => served?.close())
  const send = async (text: string) => {
    const client = connect(served?.port ?? 0, '127.0.0.1')
    client.write(text)
    const received = await client.toArray().catch(() => [])
    return received.join('')
  }
  assert.equal(await send('GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n'.repeat(200)), '')
  assert.match(await send('garbage\r\n\r\n'), /^HTTP\/1\.1 400 .+"code":"invalid_request"/s)
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
