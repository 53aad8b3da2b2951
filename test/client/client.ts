import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import type { TestContext } from 'node:test'
import type { Settings } from '../../client/src/connection.ts'
import { UserGroupServiceError } from '../../client/src/error.ts'
import { UserGroupService } from '../../client/src/user-group-service.ts'
import { engines } from '../support/engines.ts'
import { type Fault, faultyProxy } from '../support/faulty-proxy.ts'
import { type Running, running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'

const [sqlite] = engines

/** One engine is enough here: the client sees only HTTP. */
export async function runningOnSqlite(context?: TestContext): Promise<Running> {
  if (sqlite === undefined) throw new Error('there is no engine')
  return running(context, sqlite)
}

export function clientOf(baseUrl: string, settings: Partial<Settings> = {}): UserGroupService {
  return new UserGroupService({ baseUrl, apiToken: testApiToken, ...settings })
}

/** A client whose first requests meet the faults given. */
export async function unluckyClient(
  context: TestContext,
  { service }: Running,
  faults: readonly Fault[],
  settings: Partial<Settings> = {},
) {
  const proxy = await faultyProxy(context, service.url, faults)
  return { client: clientOf(proxy.url, settings), proxy }
}

/** A client that loses the answer to its nth request, and something happens in the middle: behind another one, or that. */
export function disturbedClient(
  { service }: Running,
  { lost, behind = lost }: { lost: number; behind?: number },
  event: () => Promise<unknown>,
): UserGroupService {
  let seen = 0
  return clientOf(service.url, {
    fetch: async (url, init) => {
      seen += 1
      const request = seen
      const answer = await fetch(url, init)
      if (request === behind) await event()
      if (request === lost) throw new Error('lost')
      return answer
    },
  })
}

/** What the call failed with. */
export async function failure(call: Promise<unknown>): Promise<UserGroupServiceError> {
  const error = await call.then(
    () => new Error('the call did not fail'),
    (reason: unknown) => reason,
  )
  if (error instanceof UserGroupServiceError) return error
  throw error
}

/** A port nobody listens on. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
