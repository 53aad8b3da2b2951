import { connect, type Socket } from 'node:net'

/** One request at a time, on a connection for as long as the server keeps it, parsed as little as will do. */
export class Connection {
  readonly #url: URL
  #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #done: ((answer: { ok: boolean; body: string }) => void) | undefined

  constructor(url: URL) {
    this.#url = url
    this.#socket = this.#connect()
  }

  #connect(): Socket {
    const socket = connect(Number(this.#url.port), this.#url.hostname)
    socket.setNoDelay(true)
    const onEnd = () => socket === this.#socket && this.#fail()
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('error', onEnd)
    socket.on('close', onEnd)
    return socket
  }

  send(request: string): Promise<{ ok: boolean; body: string }> {
    return new Promise((resolve) => {
      // A server may close a connection that has nothing to do.
      if (this.#socket.destroyed) this.#socket = this.#connect()
      this.#done = resolve
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#done = undefined
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    // Peers may answer in chunks: one that ends in this packet is taken as a whole.
    const length = /transfer-encoding: chunked/i.test(head)
      ? this.#received.indexOf('0\r\n\r\n', end + 4) + 5 - (end + 4)
      : Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (length < 0 || this.#received.length < end + 4 + length) return
    const body = this.#received.toString('latin1', end + 4, end + 4 + length)
    this.#received = this.#received.subarray(end + 4 + length)
    if (/\r\nconnection: close/i.test(head)) this.#socket.destroy()
    const done = this.#done
    this.#done = undefined
    done?.({ ok: head.startsWith('HTTP/1.1 2'), body })
  }

  #fail(): void {
    this.#received = Buffer.alloc(0)
    const done = this.#done
    this.#done = undefined
    done?.({ ok: false, body: '' })
  }
}
