import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A line between the service and its database that can be made to fail as networks do. */
export class TcpProxy {
  readonly #server: Server
  readonly #lines = new Set<Line>()
  #isRefusing = false
  #isSilent = false
  #allowance = Number.POSITIVE_INFINITY

  private constructor(target: URL) {
    this.#server = createServer((near) => {
      if (this.#isRefusing) return near.destroy()
      const far = connect(Number(target.port), target.hostname)
      const line = new Line(near, far, this.#allowance)
      this.#lines.add(line)
      if (this.#isSilent) line.pause()
      far.once('close', () => this.#lines.delete(line))
      return undefined
    })
  }

  /** In front of the server of a URL, whose path and user it keeps. */
  static async before(url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const proxy = new TcpProxy(new URL(url))
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    const through = new URL(url)
    through.port = String((proxy.#server.address() as AddressInfo).port)
    return { proxy, url: through.href }
  }

  /** Every connection ends, and no new one is taken until `mend`. */
  refuse(): void {
    this.#isRefusing = true
    this.cut()
  }

  /** Every connection ends at once; new ones are taken. */
  cut(): void {
    for (const line of this.#lines) line.reset()
  }

  /** Nothing comes through until `mend`, and then all that was held back. */
  fallSilent(): void {
    this.#isSilent = true
    for (const line of this.#lines) line.pause()
  }

  /** Each connection ends once so many more bytes have come back on it, be it in the middle of an answer. */
  truncate(bytes: number): void {
    this.#allowance = bytes
    for (const line of this.#lines) line.allow(bytes)
  }

  mend(): void {
    this.#isRefusing = false
    this.#isSilent = false
    this.#allowance = Number.POSITIVE_INFINITY
    for (const line of this.#lines) line.resume()
  }

  close(): void {
    this.#server.close()
    this.cut()
  }
}

class Line {
  readonly #near: Socket
  readonly #far: Socket
  #allowance: number

  constructor(near: Socket, far: Socket, allowance: number) {
    this.#near = near
    this.#far = far
    this.#allowance = allowance
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes: Buffer) => this.#giveBack(bytes))
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {})
      from.on('close', () => to.destroy())
    }
  }

  #giveBack(bytes: Buffer): void {
    this.#near.write(bytes.subarray(0, this.#allowance))
    this.#allowance -= bytes.length
    if (this.#allowance >= 0) return
    this.#near.end()
    this.#far.destroy()
  }

  allow(bytes: number): void {
    this.#allowance = bytes
  }

  pause(): void {
    this.#near.pause()
    this.#far.pause()
  }

  resume(): void {
    this.#allowance = Number.POSITIVE_INFINITY
    this.#near.resume()
    this.#far.resume()
  }

  reset(): void {
    this.#near.resetAndDestroy()
    this.#far.destroy()
  }
}
