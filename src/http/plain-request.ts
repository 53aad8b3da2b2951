import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** More than most have. A thousand headers, the most that Node takes, do not fit in that. */
const mostOfHead = 4_000
const mostOfBody = 4_000
/** A longer head is not kept for the next request: there may be thousands of connections. */
const mostKept = 1_000

const requestLine = /^(GET|POST|PATCH|DELETE) (\/[\w.~!$&'()*+,;=:@%/?-]*) HTTP\/1\.1\r\n/
// A value begins with none of the spaces before it: what may be either would be tried as both, again and again.
const headerLine = /([\w!#$%&'*+.^`|~-]+):[\t ]*([!-~][ -~]*|)\r\n/y

/** They change how a request is read, what follows it, or whose turn it is to speak. */
const notPlain = new Set(['transfer-encoding', 'expect', 'upgrade', 'proxy-connection'])

/** What of its headers the service looks at. */
const noHeaders = {
  host: undefined,
  authorization: undefined,
  connection: undefined,
  'content-type': undefined,
  'content-length': undefined,
  'content-encoding': undefined,
  'x-request-id': undefined,
} satisfies IncomingHttpHeaders
type Headers = { [Name in keyof typeof noHeaders]: string | undefined }

/** What a request says before its body. */
interface Head {
  text: string
  method: string
  url: string
  headers: Headers
  bodyLength: number
}

/** A request as nearly all are, which has come whole: what we look at of Node's. */
export class PlainRequest {
  readonly httpVersion = '1.1'
  readonly complete = true
  readonly socket: Socket
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer

  constructor(socket: Socket, { method, url, headers }: Head, body: Buffer) {
    this.socket = socket
    this.method = method
    this.url = url
    this.headers = headers
    this.body = body
  }

  /** None that matters came twice. */
  get headersDistinct(): Record<string, string[]> {
    return {}
  }
}

/**
 * Reads one request, and only what everybody reads in the same way: a head of a few plain lines, none of those twice that
 * matter, and a brief body of a length that is said. Node reads every such request to the same end, so whatever is not
 * one (undefined) can be left to Node. 'incomplete' is one whose body has not come whole.
 */
export class PlainReader {
  #last: Head | undefined

  read(bytes: Buffer, socket: Socket): PlainRequest | 'incomplete' | undefined {
    if (bytes.length > mostOfHead + mostOfBody) return undefined
    const head = this.#repeated(bytes) ?? readHead(bytes)
    if (head === undefined) return undefined
    this.#last = head.text.length > mostKept ? undefined : head
    const more = bytes.length - head.text.length - head.bodyLength
    if (more === 0) return new PlainRequest(socket, head, bytes.subarray(head.text.length))
    return more < 0 ? 'incomplete' : undefined
  }

  /** Clients repeat themselves. */
  #repeated(bytes: Buffer): Head | undefined {
    const last = this.#last
    return last !== undefined && bytes.toString('latin1', 0, last.text.length) === last.text ? last : undefined
  }
}

function readHead(bytes: Buffer): Head | undefined {
  const end = bytes.indexOf('\r\n\r\n') + 4
  if (end > mostOfHead) return undefined
  const text = bytes.toString('latin1', 0, end)
  const [line = '', method = '', url = ''] = requestLine.exec(text) ?? []
  if (line === '') return undefined
  const headers: Headers = { ...noHeaders }
  let read = line.length
  headerLine.lastIndex = read
  for (let found = headerLine.exec(text); found !== null; found = headerLine.exec(text)) {
    const name = (found[1] ?? '').toLowerCase()
    if (notPlain.has(name)) return undefined
    if (isLookedAt(name)) {
      if (headers[name] !== undefined) return undefined
      headers[name] = copied((found[2] ?? '').trimEnd())
    }
    read = headerLine.lastIndex
  }
  // All but the empty line.
  if (read !== end - 2 || !isPlain(headers)) return undefined
  const bodyLength = Number(headers['content-length'] ?? 0)
  return bodyLength > mostOfBody ? undefined : { text, method, url, headers, bodyLength }
}

function isLookedAt(name: string): name is keyof Headers {
  return Object.hasOwn(noHeaders, name)
}

/** As a part of the head it would keep all of that, and some are remembered. */
function copied(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

function isPlain({ host, connection = 'keep-alive', 'content-length': length = '0' }: Headers): boolean {
  return host !== undefined && /^(?:keep-alive|close)$/i.test(connection) && /^\d{1,4}$/.test(length)
}
