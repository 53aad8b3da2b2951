import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** More than most have. A thousand headers, the most that Node takes, do not fit in that. */
const mostOfHead = 4_000
const mostOfBody = 4_000

const requestLine = /^(GET|POST|PATCH|DELETE) (\/[\w.~!$&'()*+,;=:@%/?-]*) HTTP\/1\.1\r\n/
const headerLine = /([\w!#$%&'*+.^`|~-]+):[\t ]*([ -~]*)\r\n/y

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
  readonly headersDistinct: Record<string, string[]> = {}
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
    const text = bytes.toString('latin1')
    // Clients repeat themselves.
    const head = this.#last !== undefined && text.startsWith(this.#last.text) ? this.#last : readHead(text)
    this.#last = head
    if (head === undefined) return undefined
    const more = bytes.length - head.text.length - head.bodyLength
    if (more === 0) return new PlainRequest(socket, head, bytes.subarray(head.text.length))
    return more < 0 ? 'incomplete' : undefined
  }
}

function readHead(text: string): Head | undefined {
  const [line = '', method = '', url = ''] = requestLine.exec(text) ?? []
  if (line === '') return undefined
  const headers: Headers = { ...noHeaders }
  headerLine.lastIndex = line.length
  let end = line.length
  for (let found = headerLine.exec(text); found !== null; found = headerLine.exec(text)) {
    const name = (found[1] ?? '').toLowerCase()
    if (notPlain.has(name)) return undefined
    if (isLookedAt(name)) {
      if (headers[name] !== undefined) return undefined
      headers[name] = (found[2] ?? '').trimEnd()
    }
    end = headerLine.lastIndex
  }
  if (end > mostOfHead || !text.startsWith('\r\n', end)) return undefined
  const bodyLength = lengthOfBody(headers)
  return bodyLength === undefined ? undefined : { text: text.slice(0, end + 2), method, url, headers, bodyLength }
}

function isLookedAt(name: string): name is keyof Headers {
  return Object.hasOwn(noHeaders, name)
}

function lengthOfBody({ host, connection = 'close', 'content-length': length = '0' }: Headers): number | undefined {
  if (host === undefined || !/^(?:keep-alive|close)$/i.test(connection) || !/^\d{1,4}$/.test(length)) return undefined
  return Number(length) <= mostOfBody ? Number(length) : undefined
}
