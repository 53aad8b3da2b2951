import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const takenWithin = 30_000
const mostUnsent = 8 * 1024 * 1024
const lookEvery = 250
const largeUnsent = 64 * 1024

/**
 * What a client does not read stays with us once the buffers of the system are full. Each answer must be taken in time,
 * and all that are not yet taken share one allowance: beyond it, whoever holds the most is cut off. To be told of every
 * answer.
 */
export function hangUpOnSlowReaders(server: Server): (answered: Socket) => void {
  const connections = new Set<Socket>()
  const unsent = new WeakMap<Socket, { written: number; since: number }>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })

  const isOverdue = (socket: Socket): boolean => {
    const now = performance.now()
    const { bytesWritten: written } = socket
    const seen = unsent.get(socket)
    if (seen?.written === written) return now - seen.since > takenWithin
    unsent.set(socket, { written, since: now })
    return false
  }
  const look = () => {
    const slow = [...connections].filter((socket) => socket.writableLength > 0)
    const inTime = slow.filter((socket) => !isOverdue(socket) || !socket.destroy())
    let held = inTime.reduce((sum, { writableLength }) => sum + writableLength, 0)
    for (const socket of inTime.sort((a, b) => b.writableLength - a.writableLength)) {
      if (held <= mostUnsent) break
      held -= socket.writableLength
      socket.destroy()
    }
  }
  const looking = setInterval(look, lookEvery).unref()
  server.once('close', () => clearInterval(looking))
  // Many large answers at once would be too much before the next look.
  return ({ writableLength }) => {
    if (writableLength > largeUnsent) look()
  }
}
