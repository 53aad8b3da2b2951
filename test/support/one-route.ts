import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { Answer } from '../../src/http/operation.ts'
import { Router } from '../../src/http/router.ts'
import { createHttpServer, type ServerOptions } from '../../src/http/server.ts'

export const route = { id: 'any', method: 'POST', path: '/any', scope: null, takesBody: true }

export const bodiless = 'POST /any HTTP/1.1\r\nHost: test\r\n\r\n'
export const wellFormed =
  'POST /any HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

/** The server of the service with one route and nothing behind it; returns where that is. */
export async function serve(
  t: TestContext,
  content: Answer['content'],
  options: Partial<ServerOptions>,
): Promise<string> {
  const server = await listen(t, content, options)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/any`
}

export async function listen(
  t: TestContext,
  content: Answer['content'],
  options: Partial<ServerOptions>,
): Promise<Server> {
  const server = createHttpServer({
    router: new Router([{ ...route, answer: () => ({ type: 'text/plain', content }) }]),
    authenticator: { admit: () => undefined, readmit: () => undefined },
    requestId: () => 'one',
    onArrived() {},
    log: pino({ level: 'silent' }),
    onAnswered() {},
    ...options,
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
