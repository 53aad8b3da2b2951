import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { hasBody } from './body.ts'
import type { Request } from './exchange.ts'

const lingerFor = 2_000
const lingerBytes = 1024 * 1024
/** One of a single byte costs as much as a large one. */
const lingerPieces = 1_000

/** Up to where a connection is read whose last answer is under way. */
const limits = new WeakMap<Socket, number>()

/**
 * A client may still be sending when it gets the last answer. Closing at once would reset the connection and lose the
 * answer on its way; reading on for ever would serve a flood. So we say that nothing more comes, read on for a moment,
 * and then hang up.
 */
export function lingerWhenClosing(server: Server): void {
  server.on('connection', (socket: Socket) => {
    // Node's way to close behind the last answer, which would not wait for what is still coming in.
    socket.destroySoon = () => endWith(socket)
  })
}

export function endWith(socket: Socket, text = ''): void {
  if (socket.writableEnded) return
  limitReading(socket)
  // An empty text would be written too, and waited for.
  if (text !== '') socket.write(text)
  // When the other side has ended too, the socket is destroyed by itself, and a timer would only keep it.
  socket.end(() => {
    const hangUp = hangUpLater(socket)
    socket.once('close', () => clearTimeout(hangUp))
  })
  // Node ends it once more when the other side does, and would make an error of that.
  socket.end = () => socket
}

/**
 * The client may still be sending a body that nobody wants. To be called before the answer is sent: behind it Node drops
 * what nobody reads, without a limit.
 */
export function lingerOver(request: Request): void {
  if (!hasBody(request) || request.complete || request.destroyed) return
  const { socket } = request
  limitReading(socket)
  dropBody(request)
  const hangUp = hangUpLater(socket)
  request.once('end', () => clearTimeout(hangUp))
}

/** Reads up to a limit, and keeps nothing: in pieces of a byte a body takes a hundred times its size. */
export function dropBody(request: IncomingMessage): void {
  const { socket } = request
  let pieces = 0
  request.on('data', () => {
    pieces += 1
    if (pieces <= lingerPieces && !hasReadEnough(socket)) return
    // Node would read on as soon as nothing of it is left.
    request._read = () => {}
    socket.pause()
  })
}

export function limitReading(socket: Socket): void {
  limits.set(socket, socket.bytesRead + lingerBytes)
}

export function hasReadEnough(socket: Socket): boolean {
  return socket.bytesRead > (limits.get(socket) ?? Number.POSITIVE_INFINITY)
}

function hangUpLater(socket: Socket): NodeJS.Timeout {
  return setTimeout(() => socket.destroy(), lingerFor).unref()
}
