import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Longer than a minute, after which load balancers give a connection up: they are to be first. */
export const idleFor = 72_000

/**
 * Hangs up where nothing has come or gone for a while. Node would too, but with a timer that it makes for every answer
 * and clears at the next request.
 */
export function hangUpOnIdle(server: Server, open: { readonly sockets: Iterable<Socket> }, time = idleFor): void {
  const lastSeen = new WeakMap<Socket, { bytes: number; since: number }>()
  const look = () => {
    const now = performance.now()
    for (const socket of open.sockets) {
      const bytes = socket.bytesRead + socket.bytesWritten
      const seen = lastSeen.get(socket)
      if (bytes !== seen?.bytes) lastSeen.set(socket, { bytes, since: now })
      else if (now - seen.since >= time) socket.destroy()
    }
  }
  const looking = setInterval(look, time / 72).unref()
  server.once('close', () => clearInterval(looking))
}
