import type { Socket } from 'node:net'
import { STATUS_CODES, validateHeaderValue } from './node-http.ts'

/** The answer to a plain request: what we use of Node's, and the same on the wire. */
export class PlainResponse {
  readonly shouldKeepAlive = true
  headersSent = false
  readonly #socket: Socket
  readonly #onEnd: () => void
  #head = ''

  constructor(socket: Socket, onEnd: () => void) {
    this.#socket = socket
    this.#onEnd = onEnd
  }

  /** Names and values in turns. It is sent with what comes first behind it. */
  writeHead(status: number, headers: readonly string[]): void {
    let lines = ''
    let isLast = false
    for (let at = 0; at < headers.length; at += 2) {
      const [name = '', value = ''] = [headers[at], headers[at + 1]]
      validateHeaderValue(name, value)
      lines += `${name}: ${value}\r\n`
      isLast ||= name === 'Connection'
    }
    const connection = isLast ? '' : 'Connection: keep-alive\r\n'
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}Date: ${dateNow()}\r\n${connection}\r\n`
    this.headersSent = true
  }

  write(piece: string): boolean {
    return this.#socket.write(this.#takeHead() + piece)
  }

  end(content: string | Buffer = '', encoding: 'utf8' | 'latin1' = 'utf8'): void {
    if (typeof content === 'string') this.#writeText(content, encoding)
    else {
      this.#socket.cork()
      this.#socket.write(this.#takeHead(), 'latin1')
      this.#socket.write(content)
      this.#socket.uncork()
    }
    this.#onEnd()
  }

  #writeText(text: string, encoding: 'utf8' | 'latin1'): void {
    const whole = this.#takeHead() + text
    if (whole !== '') this.#socket.write(whole, encoding)
  }

  #takeHead(): string {
    const head = this.#head
    this.#head = ''
    return head
  }
}

let second = 0
let date = ''

function dateNow(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    date = new Date(now * 1000).toUTCString()
  }
  return date
}
