import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ExchangesUnderWay } from './connections.ts'
import { Exchange } from './exchange.ts'
import { endWith, hasReadEnough } from './linger.ts'
import { PlainReader, PlainRequest } from './plain-request.ts'
import { PlainResponse } from './plain-response.ts'

interface Uses {
  underWay: ExchangesUnderWay
  serve(exchange: Exchange): void
  /** What did not come whole. */
  refuse(socket: Socket, error: NodeJS.ErrnoException): void
}

/** Many clients send head and body one after the other. Who takes longer is told what is wrong with the head first. */
const patience = 10

type NodesListener = (this: Server, socket: Socket) => void

/**
 * Reads plain requests without Node's parser and streams, which cost as much as all else that a request takes. Where
 * anything else comes, the connection is Node's from then on, as if it had been from the first byte: there are no two
 * opinions about what a request is.
 */
export function servePlainRequests(server: Server, uses: Uses): void {
  const [toNode] = server.listeners('connection') as [NodesListener]
  server.off('connection', toNode)
  const open = new Set<PlainConnection>()
  server.on('connection', (socket: Socket) => {
    const connection = new PlainConnection(socket, uses, () => {
      open.delete(connection)
      toNode.call(server, socket)
    })
    open.add(connection)
    socket.once('close', () => open.delete(connection))
  })
  const look = () => {
    const now = performance.now()
    for (const connection of open) if (connection.isOverdue(now, server)) connection.giveUp()
  }
  const looking = setInterval(look, 1_000).unref()
  server.once('close', () => clearInterval(looking))
  const closeIdle = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    closeIdle()
    for (const connection of open) if (connection.isIdle) connection.socket.destroy()
  }
}

class PlainConnection {
  readonly socket: Socket
  readonly #uses: Uses
  readonly #toNode: () => void
  readonly #reader = new PlainReader()
  #exchange: Exchange | undefined
  /** A request without all of its body; or what came behind the one under way. */
  #held: Buffer | undefined
  #patience: NodeJS.Timeout | undefined
  #hasSent = false
  readonly #opened = performance.now()

  constructor(socket: Socket, uses: Uses, toNode: () => void) {
    this.socket = socket
    this.#uses = uses
    this.#toNode = toNode
    socket.on('data', this.#take).on('end', this.#end).on('error', ignore)
  }

  get isIdle(): boolean {
    return this.#exchange === undefined && this.#held === undefined
  }

  isOverdue(now: number, { headersTimeout }: Server): boolean {
    return !this.#hasSent && !this.socket.writableEnded && now - this.#opened > headersTimeout
  }

  giveUp(): void {
    this.#uses.refuse(this.socket, Object.assign(new Error('too slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }))
  }

  readonly #take = (bytes: Buffer): void => {
    const { socket } = this
    this.#hasSent = true
    // The last answer is given, or there is nobody to be answered.
    if (!socket.writable) {
      if (hasReadEnough(socket)) socket.pause()
    } else if (this.#exchange !== undefined) {
      // Ahead of the answer: Node keeps them in order.
      socket.pause()
      this.#held = bytes
    } else if (this.#held === undefined) this.#read(bytes, false)
    else this.#read(Buffer.concat([this.#held, bytes]), true)
  }

  #read(bytes: Buffer, isSecondTry: boolean): void {
    const { socket } = this
    // Who has not taken the last answer does not send as most do.
    const request = socket.writableLength > 0 ? undefined : this.#reader.read(bytes, socket)
    this.#held = undefined
    clearTimeout(this.#patience)
    if (request instanceof PlainRequest) this.#serve(request)
    else if (request === 'incomplete' && !isSecondTry) {
      this.#held = bytes
      this.#patience = setTimeout(() => this.#leave(bytes), patience)
    } else this.#leave(bytes)
  }

  #serve(request: PlainRequest): void {
    this.#exchange = new Exchange(request, new PlainResponse(this.socket, this.#answered))
    this.#uses.underWay.noteRequest(this.socket)
    this.#uses.serve(this.#exchange)
  }

  readonly #answered = (): void => {
    const isLast = this.#exchange?.isLast
    const ahead = this.#held
    this.#exchange = this.#held = undefined
    if (isLast) {
      endWith(this.socket)
      this.socket.resume()
    } else if (ahead !== undefined) this.#leave(ahead)
  }

  readonly #end = (): void => {
    if (this.#exchange !== undefined) this.#exchange.isLast = true
    else if (this.#held !== undefined) this.#uses.refuse(this.socket, new Error('the request ended early'))
    else this.socket.end()
  }

  #leave(bytes: Buffer): void {
    const { socket } = this
    // Node may pause it at once, and what a stream does between this event and the next would undo that.
    socket.pause().once('resume', () => {
      socket.off('data', this.#take).off('end', this.#end).off('error', ignore)
      this.#toNode()
      socket.emit('data', bytes)
    })
    socket.resume()
  }
}

function ignore(): void {}
