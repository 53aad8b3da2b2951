import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, type TestContext } from 'node:test'

/** What happens to one request on its way. */
export type Fault =
  | 'pass'
  /** The connection ends before the service sees the request. */
  | 'drop'
  /** The service does its work, and the connection ends instead of its answer coming back. */
  | 'lose'
  /** As 'lose', with the first half of the answer. */
  | 'cut'
  /** The service does its work, and its answer never comes. */
  | 'hang'
  /** As 'hang', behind the first half of the answer. */
  | 'stall'
  /** The answer to the request before, as a cache that looks at the URL alone would give it. */
  | 'stale'
  /** This answer instead of the service's, before or after it has done its work. */
  | { status: number; headers?: Record<string, string>; body?: string; afterWork?: true }

interface Answer {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

export interface FaultyProxy {
  url: string
  /** What reached the proxy so far: `POST /api/user`. */
  readonly seen: string[]
  /** When each of them did, in milliseconds. */
  readonly at: number[]
}

/** A real HTTP proxy in front of the service: the first requests meet the faults given, all others pass. */
export async function faultyProxy(
  context: TestContext | undefined,
  service: string,
  faults: readonly Fault[],
): Promise<FaultyProxy> {
  const seen: string[] = []
  const at: number[] = []
  let last: Answer | undefined
  const server = createServer(async (incoming, outgoing) => {
    const fault = faults[seen.length] ?? 'pass'
    seen.push(`${incoming.method} ${incoming.url}`)
    at.push(performance.now())
    const body = Buffer.concat(await incoming.toArray())
    if (fault === 'drop') return incoming.socket.destroy()
    if (typeof fault === 'object' && 'status' in fault) {
      if (fault.afterWork) await forward(service, incoming, body)
      return outgoing.writeHead(fault.status, fault.headers).end(fault.body)
    }
    if (fault === 'stale' && last) return give(outgoing, last)
    const answer = await forward(service, incoming, body)
    last = answer
    if (fault === 'lose') return incoming.socket.destroy()
    if (fault === 'cut') return giveHalf(outgoing, answer, () => outgoing.socket?.destroy())
    if (fault === 'hang') return
    if (fault === 'stall') return giveHalf(outgoing, answer)
    return give(outgoing, answer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  if (context) context.after(end)
  else after(end)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, at }
}

async function forward(service: string, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const { method, headers, url } = incoming
  const outgoing = request(service + url, { method, headers: { ...headers, connection: 'close' } }).end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(await answer.toArray()) }
}

function give(outgoing: ServerResponse, { status, headers: { connection, ...headers }, body }: Answer): void {
  outgoing.writeHead(status, headers).end(body)
}

function giveHalf(
  outgoing: ServerResponse,
  { status, headers: { connection, ...headers }, body }: Answer,
  then?: () => void,
): void {
  outgoing.writeHead(status, headers)
  outgoing.write(body.subarray(0, body.length / 2), then)
}
