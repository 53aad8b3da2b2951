import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'

const takenWithin = 30_000
const mostUnsent = 4 * 1024 * 1024
const stalledAfter = 500
const lookEvery = 250
const largeUnsent = 64 * 1024

/**
 * What a client does not read stays with us once the buffers of the system are full. Who takes nothing for too long is
 * cut off; and when what is not yet taken becomes too much for all, whoever holds the most of it and has stopped
 * reading. To be told of every answer.
 */
export function hangUpOnSlowReaders(server: Server): (answered: Exchange) => void {
  /** Those who have not taken all of it yet. */
  const answers = new Map<Socket, Exchange>()
  const progress = new WeakMap<Socket, { written: number; since: number }>()

  const stalledFor = (socket: Socket): number => {
    const now = performance.now()
    const { bytesWritten: written } = socket
    const seen = progress.get(socket)
    if (seen?.written === written) return now - seen.since
    progress.set(socket, { written, since: now })
    return 0
  }
  const look = () => {
    for (const [socket, answered] of answers) if (socket.destroyed || unsentTo(answered) === 0) answers.delete(socket)
    const slow = [...answers].map(([socket, answered]) => {
      return { socket, unsent: unsentTo(answered), stalled: stalledFor(socket) }
    })
    for (const { socket, stalled } of slow) if (stalled > takenWithin) socket.destroy()
    const inTime = slow.filter(({ stalled }) => stalled <= takenWithin)
    let held = inTime.reduce((sum, { unsent }) => sum + unsent, 0)
    const stopped = inTime.filter(({ stalled }) => stalled >= stalledAfter)
    for (const { socket, unsent } of stopped.sort((one, other) => other.unsent - one.unsent)) {
      if (held <= mostUnsent) break
      held -= unsent
      socket.destroy()
    }
  }
  const looking = setInterval(look, lookEvery).unref()
  server.once('close', () => clearInterval(looking))
  return (answered) => {
    const unsent = unsentTo(answered)
    if (unsent === 0) return
    const { socket } = answered.request
    // The one before may still be under way, on a connection that sends several requests at a time.
    if ((answers.get(socket)?.kept ?? 0) === 0) answers.set(socket, answered)
    // Many large answers at once would be too much before the next look.
    if (unsent > largeUnsent) look()
  }
}

function unsentTo({ request, kept }: Exchange): number {
  return request.socket.writableLength + kept
}
