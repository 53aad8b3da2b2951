import type { IncomingMessage } from 'node:http'

const lingerFor = 2_000
const lingerBytes = 1024 * 1024

/**
 * A refused request may still be sending its body. Closing at once would reset the connection and lose the answer on
 * its way; reading on for ever would serve a flood. So we read on for a moment, and then hang up.
 */
export function lingerBriefly(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const limit = socket.bytesRead + lingerBytes
  const hangUp = setTimeout(() => socket.destroy(), lingerFor)
  const watch = () => {
    // Each on its own would be set going again by the other.
    if (socket.bytesRead > limit) for (const stream of [request, socket]) stream.pause()
  }
  // Watched on the socket: Node drops what nobody reads of a request without a word to who listens for it.
  socket.on('data', watch)
  // Node's way to close behind the last answer, which would not wait for what is still coming in.
  socket.destroySoon = () => socket.end()
  const settle = () => {
    clearTimeout(hangUp)
    socket.off('data', watch)
    Reflect.deleteProperty(socket, 'destroySoon')
    if (socket.writableEnded) socket.destroy()
  }
  request.once('end', settle)
  socket.once('close', settle)
  request.resume()
}
