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
  /** What did not come, or not whole. */
  refuse(socket: Socket, error: NodeJS.ErrnoException): void
}

/** Many clients send head and body one after the other. Who takes longer is told what is wrong with the head first. */
const patience = 10

type NodesListener = (this: Server, socket: Socket) => void

/**
 * Reads plain requests without Node's parser and streams, which cost half as much as all else that a hot request
 * takes. Where anything else comes, the connection is Node's from then on, as if it had been from the first byte: there are no two
 * opinions about what a request is.
 */
export function servePlainRequests(server: Server, uses: Uses): void {
  const [toNode] = server.listeners('connection') as [NodesListener]
  server.off('connection', toNode)
  const open = new Set<PlainConnection>()
  server.on('connection', (socket: Socket) => {
    const forget = () => open.delete(connection)
    const connection = new PlainConnection(socket, uses, () => {
      forget()
      socket.off('close', forget)
      toNode.call(server, socket)
    })
    open.add(connection)
    socket.once('close', forget)
  })
  const look = () => {
    const now = performance.now()
    for (const connection of open) if (connection.isOverdue(now, server)) connection.refuse(tooSlow())
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
  /** A request without all of its body. */
  #incomplete: Buffer | undefined
  #patience: NodeJS.Timeout | undefined
  #isUnused = true
  /** What came last is refused, and nothing behind it served. */
  #isRefused = false
  readonly #opened = performance.now()

  constructor(socket: Socket, uses: Uses, toNode: () => void) {
    this.socket = socket
    this.#uses = uses
    this.#toNode = toNode
    socket.on('data', this.#take).on('end', this.#end).on('error', ignore)
  }

  get isIdle(): boolean {
    return this.#exchange === undefined && this.#incomplete === undefined
  }

  isOverdue(now: number, { headersTimeout }: Server): boolean {
    return this.#isUnused && !this.#isRefused && now - this.#opened > headersTimeout
  }

  refuse(error: NodeJS.ErrnoException): void {
    this.#isRefused = true
    this.#uses.refuse(this.socket, error)
  }

  readonly #take = (bytes: Buffer): void => {
    const { socket } = this
    this.#isUnused = false
    // The last answer is given, or there is nobody to be answered.
    if (this.#isRefused || !socket.writable) {
      if (hasReadEnough(socket)) socket.pause()
    } else if (this.#exchange !== undefined) {
      // Ahead of the answer, behind which Node will find it, and keep what comes in order.
      socket.pause()
      socket.unshift(bytes)
    } else if (this.#incomplete === undefined) this.#read(bytes, false)
    else this.#read(Buffer.concat([this.#incomplete, bytes]), true)
  }

  #read(bytes: Buffer, isSecondTry: boolean): void {
    const { socket } = this
    clearTimeout(this.#patience)
    this.#incomplete = undefined
    // Who has not taken the last answer does not send as most do.
    const request = socket.writableLength > 0 ? undefined : this.#reader.read(bytes, socket)
    if (request instanceof PlainRequest) this.#serve(request)
    else if (request === 'incomplete' && !isSecondTry) {
      this.#incomplete = bytes
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
    this.#exchange = undefined
    if (isLast) {
      endWith(this.socket)
      this.socket.resume()
    } else if (this.socket.readableLength > 0) this.#leave()
  }

  readonly #end = (): void => {
    clearTimeout(this.#patience)
    if (this.#exchange !== undefined) this.#exchange.isLast = true
    else if (this.#incomplete !== undefined) this.refuse(new Error('the request ended early'))
    else this.socket.end()
  }

  #leave(bytes?: Buffer): void {
    const { socket } = this
    // Node may pause it at once, and what a stream does between this event and the next would undo that.
    socket.pause().once('resume', () => {
      if (socket.destroyed) return
      socket.off('data', this.#take).off('end', this.#end).off('error', ignore)
      this.#toNode()
      if (bytes !== undefined) socket.emit('data', bytes)
    })
    socket.resume()
  }
}

function tooSlow(): Error {
  return Object.assign(new Error('nothing came'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
}

function ignore(): void {}
