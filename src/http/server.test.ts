import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { pino } from 'pino'
import { ServiceError } from '../errors.ts'
import { Router } from './router.ts'
import { createHttpServer } from './server.ts'

it('what fails before the requests that arrived together are served fails them, and nothing else', async (t) => {
  let isBroken = true
  const route = { id: 'any', method: 'POST', path: '/any', scope: null, takesBody: true }
  const server = createHttpServer({
    router: new Router([{ ...route, answer: () => ({ type: 'text/plain', content: 'served' }) }]),
    authenticate: () => undefined,
    requestId: () => 'one',
    onArrived() {
      if (isBroken) throw new ServiceError('unavailable')
    },
    log: pino({ level: 'silent' }),
    onAnswered() {},
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/any`
  const post = (body?: string) =>
    fetch(url, { method: 'POST', ...(body && { body, headers: { 'content-type': 'application/json' } }) })
  for (const body of ['{}', undefined]) assert.equal((await post(body)).status, 503)
  isBroken = false
  assert.equal(await (await post('{}')).text(), 'served')
})
