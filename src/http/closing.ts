import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** What Node does not mind as a server closes: answers that are on their way, and connections whose parser it gave up. */
export function mindAllWhenClosing(server: Server, open: { readonly sockets: Iterable<Socket> }): void {
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
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
  server.closeAllConnections = () => {
    for (const socket of open.sockets) socket.destroy()
  }
}
