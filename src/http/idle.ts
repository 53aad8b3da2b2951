import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Longer than a minute, after which load balancers give a connection up: they are to be first. */
export const idleFor = 72_000

/**
 * Hangs up where nothing has come or gone for a while. Node would too, but with a timer that it makes for every answer
 * and clears at the next request.
 */
export function hangUpOnIdle(server: Server, time = idleFor): void {
  const connections = new Map<Socket, { bytes: number; since: number }>()
  server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: performance.now() })
    socket.once('close', () => connections.delete(socket))
  })
  const look = () => {
    const now = performance.now()
    for (const [socket, seen] of connections) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (bytes !== seen.bytes) connections.set(socket, { bytes, since: now })
      else if (now - seen.since >= time) socket.destroy()
    }
  }
  const looking = setInterval(look, time / 72).unref()
  server.once('close', () => clearInterval(looking))
}
