import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { asText, lastAnswer, unparsable } from './failure.ts'

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

const mostAhead = { ofOne: 100, ofAll: 1_000 }

interface Connection {
  socket: Socket
  last: Exchange
  /** Requests that came before the answer to the one before them was gone. */
  ahead: number
}

/** Keeps the requests of a connection in their order. */
export class ExchangesUnderWay {
  readonly #connections = new WeakMap<Socket, Connection>()
  readonly #waiting = new Set<Connection>()
  #ahead = 0

  /** Lets a request proceed once the answer before it on the same connection is gone. */
  begin(exchange: Exchange, proceed: () => void): void {
    const { socket } = exchange.request
    const connection = this.#connections.get(socket) ?? this.#open(socket, exchange)
    const { last } = connection
    connection.last = exchange
    // Nobody is there to be answered: what is asked for must not happen behind their back.
    if (!socket.writable) return
    if (last === exchange || last.response.writableFinished) proceed()
    else this.#wait(connection, last, proceed)
  }

  #open(socket: Socket, last: Exchange): Connection {
    const connection = { socket, last, ahead: 0 }
    this.#connections.set(socket, connection)
    socket.once('close', () => this.#count(connection, -connection.ahead))
    return connection
  }

  /**
   * A client that sends many requests and reads no answer would otherwise have us prepare all of them, and hold them.
   * Who sends too many ahead is cut off, or whoever sent the most when it becomes too much for all.
   */
  #wait(connection: Connection, before: Exchange, proceed: () => void): void {
    const { socket } = connection
    this.#count(connection, 1)
    before.response.once('close', () => {
      if (!socket.writable) return
      this.#count(connection, -1)
      proceed()
    })
    if (connection.ahead > mostAhead.ofOne) this.#cut(connection)
    else if (this.#ahead > mostAhead.ofAll)
      this.#cut([...this.#waiting].reduce((most, other) => (other.ahead > most.ahead ? other : most)))
  }

  #count(connection: Connection, more: number): void {
    connection.ahead += more
    this.#ahead += more
    if (connection.ahead > 0) this.#waiting.add(connection)
    else this.#waiting.delete(connection)
  }

  #cut(connection: Connection): void {
    this.#count(connection, -connection.ahead)
    connection.socket.destroy()
  }

  /** Answers what Node could not parse as HTTP. Returns the status, or undefined when nobody is there to read it. */
  answerUnparsable(error: NodeJS.ErrnoException, socket: Socket): number | undefined {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return undefined
    }
    const failure = unparsable(error)
    const end = () => endWith(socket, failure)
    const last = this.#connections.get(socket)?.last
    if (last === undefined || last.response.writableFinished) end()
    else if (last.request.complete) last.response.once('finish', end)
    else if (last.response.headersSent) socket.destroy()
    else end()
    return failure.status
  }
}
