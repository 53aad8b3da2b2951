import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const ways = [
  'dripping headers',
  'dripping a body',
  'crumbling a body',
  'not reading a document',
  'not reading a document, and crumbling a body',
  'not reading a list',
  'not reading many lists',
] as const
export type Way = (typeof ways)[number]

const crumb = '1\r\n \r\n'

/** A client that was cut off, or has not been yet. */
export interface SlowClient {
  way: Way
  /** Milliseconds since it connected, or until it was cut off. */
  age: number
  isOpen: boolean
  /** The status it was told, where it reads at all. */
  status: number | undefined
}

const atOnce = 100

/** Slow clients, as many as there is room for: each does as little as it can to keep its connection. */
export class Siege {
  readonly #url: URL
  readonly #apiToken: string
  readonly #every: number
  readonly #connections: Connection[] = []
  #isOn = true

  constructor(url: string, apiToken: string, every: number) {
    this.#url = new URL(url)
    this.#apiToken = apiToken
    this.#every = every
  }

  /** Returns when all are connected. `again`: who is cut off comes back. */
  async raise(counts: Partial<Record<Way, number>>, again: boolean): Promise<void> {
    const wanted = ways.flatMap((way) => Array.from({ length: counts[way] ?? 0 }, () => way))
    for (let from = 0; from < wanted.length; from += atOnce)
      await Promise.all(wanted.slice(from, from + atOnce).map((way) => this.#connect(way, again)))
  }

  clients(): SlowClient[] {
    return this.#connections.map(({ way, age, isOpen, status }) => ({ way, age, isOpen, status }))
  }

  lift(): void {
    this.#isOn = false
    for (const connection of this.#connections) connection.close()
  }

  async #connect(way: Way, again: boolean): Promise<void> {
    const { promise: connected, resolve } = Promise.withResolvers<void>()
    const connection = new Connection(way, this.#url, opening(way, this.#apiToken), this.#every, resolve, async () => {
      if (!again || !this.#isOn) return
      await pause(atOnce)
      if (this.#isOn) await this.#connect(way, again)
    })
    this.#connections.push(connection)
    await connected
  }
}

class Connection {
  readonly way: Way
  readonly #socket: Socket
  readonly #began = performance.now()
  #ended: number | undefined
  #received = ''

  constructor(
    way: Way,
    { hostname, port }: URL,
    opening: string,
    every: number,
    onConnected: () => void,
    onCut: () => void,
  ) {
    this.way = way
    this.#socket = connect(Number(port), hostname, onConnected)
    if (way.startsWith('not reading')) this.#socket.pause()
    else
      this.#socket.on('data', (chunk: Buffer) => {
        this.#received += chunk.toString('latin1')
      })
    this.#socket.on('error', onConnected)
    // From its own beginning on: clients that have nothing to do with each other do not keep time with each other.
    const dripping = setInterval(() => this.#drip(), every)
    this.#socket.on('close', () => {
      clearInterval(dripping)
      this.#ended = performance.now()
      onCut()
    })
    this.#socket.write(opening)
  }

  get isOpen(): boolean {
    return this.#ended === undefined
  }

  get age(): number {
    return (this.#ended ?? performance.now()) - this.#began
  }

  get status(): number | undefined {
    const status = /^HTTP\/1\.1 (\d+)/.exec(this.#received)?.[1]
    return status === undefined ? undefined : Number(status)
  }

  /** One byte more; it is also how a client that does not read learns that it was cut off. */
  #drip(): void {
    if (!this.way.startsWith('not reading a ') && this.#socket.writable)
      this.#socket.write(this.way === 'crumbling a body' ? crumb : 'x')
  }

  close(): void {
    this.#socket.resetAndDestroy()
  }
}

function opening(way: Way, apiToken: string): string {
  if (way === 'dripping headers') return 'GET /api/user HTTP/1.1\r\nHost: test\r\nX-Slow: '
  if (way === 'dripping a body')
    return `GET /api/user HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${apiToken}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`
  if (way === 'crumbling a body')
    return `GET /api/user HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${apiToken}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${crumb.repeat(40_000)}`
  const document = 'GET /api/openapi.json HTTP/1.1\r\nHost: test\r\n\r\n'
  if (way === 'not reading a document') return document
  // As many as the buffers of the system do not hold, and behind them a body that waits for its turn.
  if (way === 'not reading a document, and crumbling a body')
    return `${document.repeat(60)}POST /api/user HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n${crumb.repeat(66_000)}`
  const list = `GET /api/user_groups?limit=200 HTTP/1.1\r\nHost: test\r\nAuthorization: Token ${apiToken}\r\n\r\n`
  return way === 'not reading a list' ? list : list.repeat(90)
}
