import type { IncomingMessage } from 'node:http'
import { hasBody } from './body.ts'

const lingerFor = 2_000
const lingerBytes = 1024 * 1024

/**
 * A refused request may still be sending its body. Closing at once would reset the connection and lose the answer on
 * its way; reading on for ever would serve a flood. So we read on for a moment, and then hang up. To be called before
 * the answer is sent: behind it Node drops what nobody reads, without a limit.
 */
export function lingerBriefly(request: IncomingMessage): void {
  if (!hasBody(request) || request.complete || request.destroyed) return
  const { socket } = request
  const limit = socket.bytesRead + lingerBytes
  const hangUp = setTimeout(() => socket.destroy(), lingerFor)
  request.on('data', () => {
    if (socket.bytesRead > limit) request.pause()
  })
  // Node's way to close behind the last answer, which would not wait for what is still coming in.
  socket.destroySoon = () => socket.end()
  const settle = () => {
    clearTimeout(hangUp)
    Reflect.deleteProperty(socket, 'destroySoon')
    if (socket.writableEnded) socket.destroy()
  }
  request.once('end', settle)
  socket.once('close', settle)
}
