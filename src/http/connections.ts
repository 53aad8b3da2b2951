import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { asText, lastAnswer, unparsable } from './failure.ts'

const lingerFor = 2_000
const lingerBytes = 1024 * 1024

/** What Node would answer in a shape of its own, or not at all. */
export function answerOddRequests(server: Server): void {
  server.on('connect', (_request, socket: Socket) =>
    endWith(socket, new ServiceError('invalid_request', { message: 'This is no proxy: CONNECT is not served.' })),
  )
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const { headers, body } = lastAnswer(new ServiceError('expectation_failed'))
    response.writeHead(417, headers).end(body)
  })
}

function endWith(socket: Socket, failure: ServiceError): void {
  socket.end(asText(failure), () => socket.destroy())
}

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
    if (socket.bytesRead > limit) socket.destroy()
  }
  request.on('data', watch)
  const settle = () => clearTimeout(hangUp)
  request.once('end', settle)
  socket.once('close', settle)
  request.resume()
}

/** Remembers the exchange under way on a connection, so that an error behind it does not overtake its answer. */
export class ExchangesUnderWay {
  readonly #last = new WeakMap<Socket, Exchange>()

  begin(exchange: Exchange): void {
    this.#last.set(exchange.request.socket, exchange)
  }

  /** Answers what Node could not parse as HTTP. Returns the status, or undefined when nobody is there to read it. */
  answerUnparsable(error: NodeJS.ErrnoException, socket: Socket): number | undefined {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return undefined
    }
    const failure = unparsable(error)
    const end = () => endWith(socket, failure)
    const last = this.#last.get(socket)
    if (last === undefined || last.response.writableFinished) end()
    else if (last.request.complete) last.response.once('finish', end)
    else if (last.response.headersSent) socket.destroy()
    else end()
    return failure.status
  }
}
