import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Longer than a request is on its way from a client that has just been answered. */
const lastRequestsWithinMs = 250

/**
 * What Node does not mind as a server closes: requests and answers that are on their way, and connections whose parser it
 * gave up.
 */
export function mindAllWhenClosing(server: Server, open: { readonly sockets: Iterable<Socket> }): void {
  const closeIdle = server.closeIdleConnections.bind(server)
  const closeIdleButUnsent = () => {
    const unsent = [...open.sockets].filter(({ writableLength }) => writableLength > 0)
    // Node takes an answer for gone once we have given it away, and would destroy the connection under it.
    for (const socket of unsent)
      socket.destroy = () => {
        socket.destroySoon()
        return socket
      }
    closeIdle()
    for (const socket of unsent) Reflect.deleteProperty(socket, 'destroy')
  }
  // A connection that is idle to us may carry a request already. It is answered, and the client told that it is the last.
  server.closeIdleConnections = () => {
    const closing = setTimeout(closeIdleButUnsent, lastRequestsWithinMs)
    server.once('close', () => clearTimeout(closing))
  }
  server.closeAllConnections = () => {
    for (const socket of open.sockets) socket.destroy()
  }
}
