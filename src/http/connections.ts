import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../errors.ts'
import type { NodesExchange } from './exchange.ts'
import { asText, unparsable } from './failure.ts'
import { dropBody, endWith, hasReadEnough, limitReading } from './linger.ts'

const chunksAhead = 'A body in chunks came before the answer to the request before it; wait for that, or send a length.'

const mostAhead = { ofOne: 100, ofAll: 1_000 }

interface Connection {
  socket: Socket
  /** Until its answer is gone: a connection may stay for hours, and many do. */
  last: NodesExchange | undefined
  /** The one before the last, when its answer was not gone as the last began. */
  before: NodesExchange | undefined
  /** Requests that came before the answer to the one before them was gone. */
  ahead: number
  requests: number
  /** The last answer on it is given, or under way. */
  isEnding: boolean
}

/** Keeps the requests of each open connection in their order. */
export class ExchangesUnderWay {
  readonly #connections = new Map<Socket, Connection>()
  readonly #waiting = new Set<Connection>()
  #ahead = 0
  #returning = 0

  /** How many open connections have asked more than once, and may do so again. */
  get returning(): number {
    return this.#returning
  }

  get sockets(): Iterable<Socket> {
    return this.#connections.keys()
  }

  open(socket: Socket): void {
    const connection = { socket, last: undefined, before: undefined, ahead: 0, requests: 0, isEnding: false }
    this.#connections.set(socket, connection)
    socket.once('close', () => {
      this.#connections.delete(socket)
      this.#count(connection, -connection.ahead)
      if (connection.requests > 1) this.#returning -= 1
    })
  }

  /** One that waits for none before it. */
  noteRequest(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined) this.#noteRequest(connection)
  }

  #noteRequest(connection: Connection): void {
    connection.requests += 1
    if (connection.requests === 2) this.#returning += 1
  }

  /**
   * Lets a request proceed once the answer before it on the same connection is gone. Returns the status where it is
   * refused instead.
   */
  begin(exchange: NodesExchange, proceed: () => void): number | undefined {
    const { request } = exchange
    const { socket } = request
    const connection = this.#connections.get(socket)
    // It is gone.
    if (connection === undefined) return undefined
    this.#noteRequest(connection)
    const { last } = connection
    const isNext = last === undefined || last.response.writableFinished
    connection.before = isNext ? undefined : last
    connection.last = exchange
    exchange.response.on('close', () => {
      // One whose body has not come whole is still needed: see `endWith`.
      if (connection.last === exchange && exchange.request.complete) connection.last = connection.before = undefined
    })
    // Nobody is there to be answered, or will be: what is asked for must not happen behind their back.
    if (!socket.writable || connection.isEnding) {
      dropBody(request)
      if (hasReadEnough(socket)) socket.pause()
      return undefined
    }
    if (isNext) proceed()
    else if (request.headers['transfer-encoding'] === undefined) this.#wait(connection, last, proceed)
    else return this.#refuseToWait(request)
    return undefined
  }

  /** While nobody reads, Node keeps chunks as they come: in chunks of a byte, megabytes of them for each connection. */
  #refuseToWait(request: IncomingMessage): number | undefined {
    dropBody(request)
    return this.endWith(request.socket, new ServiceError('invalid_request', { message: chunksAhead }))
  }

  /**
   * A client that sends many requests and reads no answer would otherwise have us prepare all of them, and hold them.
   * Who sends too many ahead is cut off, or whoever sent the most when it becomes too much for all.
   */
  #wait(connection: Connection, before: NodesExchange, proceed: () => void): void {
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

  /** Whether the last request has not come whole. */
  isCutShort(socket: Socket): boolean {
    return this.#connections.get(socket)?.last?.request.complete === false
  }

  /** Answers what Node could not parse as HTTP. Returns the status, or undefined when there is nothing to answer. */
  answerUnparsable(error: NodeJS.ErrnoException, socket: Socket): number | undefined {
    if (error.code === 'ECONNRESET') socket.destroy()
    if (socket.writable && !this.#connections.get(socket)?.isEnding) return this.endWith(socket, unparsable(error))
    // Node says the same of all that comes behind.
    if (hasReadEnough(socket)) socket.pause()
    return undefined
  }

  /** Nothing that comes behind is served. */
  endBehind(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined) connection.isEnding = true
  }

  /** Makes this the last answer on the connection, behind those under way. */
  endWith(socket: Socket, failure: ServiceError): number | undefined {
    this.endBehind(socket)
    limitReading(socket)
    const { last, before } = this.#connections.get(socket) ?? {}
    const broken = last?.request.complete === false ? last : undefined
    if (broken !== undefined) broken.isBroken = true
    // A second answer to the same request would be taken for the answer to the next.
    const isAnswered = () => broken?.response.headersSent === true
    const end = () => endWith(socket, isAnswered() ? '' : asText(failure))
    const previous = broken === undefined ? last : before
    if (previous === undefined || previous.response.writableFinished) end()
    else previous.response.once('finish', end)
    return isAnswered() ? undefined : failure.status
  }
}
