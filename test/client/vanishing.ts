import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A service that is gone once it was sent a change: its connections break, and it takes no new ones. Returns its URL. */
export async function vanishing(context: TestContext): Promise<string> {
  const end = () => {
    server.close()
    server.closeAllConnections()
  }
  const server = createServer(({ method }, response) => {
    if (method === 'GET') response.end('{"success":1}')
    else end()
  }).listen(0, '127.0.0.1')
  context.after(end)
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
