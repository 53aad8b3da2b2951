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
export function hangUpOnSlowReaders(
  server: Server,
  open: { readonly sockets: Iterable<Socket> },
): (answered: Exchange) => void {
  const answers = new WeakMap<Socket, Exchange>()
  const progress = new WeakMap<Socket, { written: number; since: number }>()

  const unsentTo = (socket: Socket): number => {
    const kept = answers.get(socket)?.kept
    if (kept === 0) answers.delete(socket)
    return socket.writableLength + (kept ?? 0)
  }
  const stalledFor = (socket: Socket): number => {
    const now = performance.now()
    const { bytesWritten: written } = socket
    const seen = progress.get(socket)
    if (seen?.written === written) return now - seen.since
    progress.set(socket, { written, since: now })
    return 0
  }
  const look = () => {
    const slow = [...open.sockets]
      .map((socket) => ({ socket, unsent: unsentTo(socket) }))
      .filter(({ unsent }) => unsent > 0)
      .map((reader) => ({ ...reader, stalled: stalledFor(reader.socket) }))
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
    const { socket } = answered.request
    if (answered.kept > 0) answers.set(socket, answered)
    // Many large answers at once would be too much before the next look.
    if (socket.writableLength + answered.kept > largeUnsent) look()
  }
}
