import { connect } from 'node:net'

type Maker = (hidden: string) => string

const request = (headers: readonly string[], body: string, start = 'GET /api/user HTTP/1.1') =>
  [start, 'Host: test', ...headers, '', body].join('\r\n')
const length = (body: string) => `Content-Length: ${body.length}`
const chunked = 'Transfer-Encoding: chunked'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const noMore = '0\r\n\r\n'

/** Without a body for who believes in these chunks, and with one that holds the hidden request for who does not. */
const doubtfulChunks =
  (...headers: string[]): Maker =>
  (hidden) =>
    request([...headers, length(noMore + hidden)], noMore + hidden)

const doubtfulLength =
  (header: (length: number) => string): Maker =>
  (hidden) =>
    request([header(hidden.length)], hidden)

const upgrade =
  (...headers: string[]): Maker =>
  (hidden) =>
    request(headers, hidden)

const body =
  (start: string, ...headers: string[]): Maker =>
  (hidden) =>
    request([...headers, length(hidden)], hidden, start)

const makers: Record<string, Maker> = {
  'in plain sight': (hidden) => request(['Content-Length: 0'], hidden),
  'chunks and a length that covers more': doubtfulChunks(chunked),
  'a length that covers more, and chunks': (hidden) => request([length(noMore + hidden), chunked], noMore + hidden),
  'a length that covers less, and chunks': (hidden) => request(['Content-Length: 4', chunked], chunk(hidden) + noMore),
  'a length of nothing, and chunks': (hidden) => request(['Content-Length: 0', chunked], chunk(hidden) + noMore),
  'a space before the colon of chunks': doubtfulChunks('Transfer-Encoding : chunked'),
  'chunks over two lines': doubtfulChunks('Transfer-Encoding:\r\n chunked'),
  'chunks behind a tab': doubtfulChunks('Transfer-Encoding:\tchunked'),
  'chunks behind a vertical tab': doubtfulChunks('Transfer-Encoding: \vchunked'),
  'chunks in quotes': doubtfulChunks('Transfer-Encoding: "chunked"'),
  'an encoding nobody knows': doubtfulChunks('Transfer-Encoding: xchunked'),
  'chunks, then identity': doubtfulChunks('Transfer-Encoding: chunked, identity'),
  'chunks, then identity in another line': doubtfulChunks(chunked, 'Transfer-Encoding: identity'),
  'chunks behind a bare line feed': doubtfulChunks(`X-Feed: a\n${chunked}`),
  'chunks behind a bare carriage return': doubtfulChunks(`X-Return: a\r${chunked}`),
  'chunks that continue another header': doubtfulChunks('X-Fold: a', ` ${chunked}`),
  'chunks in HTTP/1.0': (hidden) =>
    request([chunked, 'Connection: keep-alive'], noMore + hidden, 'GET /api/user HTTP/1.0'),
  'chunks that are to be dropped on the way': doubtfulChunks(chunked, 'Connection: Transfer-Encoding'),
  'two lengths, the first right': (hidden) => request([length(hidden), 'Content-Length: 0'], hidden),
  'two lengths, the last right': (hidden) => request(['Content-Length: 0', length(hidden)], hidden),
  'two lengths in one line': doubtfulLength((right) => `Content-Length: ${right}, 0`),
  'a length with a sign': doubtfulLength((right) => `Content-Length: +${right}`),
  'a length in hexadecimal': doubtfulLength((right) => `Content-Length: 0x${right.toString(16)}`),
  'a length with more behind it': doubtfulLength((right) => `Content-Length: 0 ${right}`),
  'a length over two lines': doubtfulLength((right) => `Content-Length:\r\n ${right}`),
  'a length that continues another header': doubtfulLength((right) => `X-Fold: a\r\n Content-Length: ${right}`),
  'a space before the colon of a length': doubtfulLength((right) => `Content-Length : ${right}`),
  'a length that is to be dropped on the way': doubtfulLength(
    (right) => `Content-Length: ${right}\r\nConnection: Content-Length`,
  ),
  'a length in the trailer': (hidden) => request([chunked], `0\r\n${length(hidden)}\r\n\r\n${hidden}`),
  'a chunk whose size overflows': (hidden) => request([chunked], `1000000000000000${chunk(hidden)}${noMore}`),
  'a chunk whose size has a prefix': (hidden) => request([chunked], `0x${chunk(hidden)}${noMore}`),
  'a bare line feed behind a chunk size': (hidden) => request([chunked], `2\n{}\r\n${noMore}${hidden}`),
  'a bare line feed in a chunk extension': (hidden) =>
    request([chunked], `2;a\n${hidden.length.toString(16)}\r\n{}\r\n${noMore}${hidden}`),
  'more in a chunk than its size': (hidden) => request([chunked], `2\r\n{}xx\r\n${noMore}${hidden}`),
  'an expectation': body('GET /api/user HTTP/1.1', 'Expect: 100-continue'),
  'an expectation nobody knows': body('GET /api/user HTTP/1.1', 'Expect: y 100-continue'),
  'an upgrade to HTTP/2': upgrade('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'),
  'an upgrade to a web socket': upgrade('Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'),
  'the body of a GET': body('GET /api/user HTTP/1.1', 'Content-Type: application/json'),
  'the body of a PUT': body('PUT /api/user HTTP/1.1'),
  'the body of a HEAD': body('HEAD /api/user HTTP/1.1'),
  'the body of a request for nothing': body('GET /nowhere HTTP/1.1'),
  'a target of several lines': (hidden) =>
    request([], '', `GET /api/user?${hidden.replaceAll('\r\n', '%0d%0a')} HTTP/1.1`),
}

/**
 * Requests that a proxy and the service might divide differently, by where each hides another one. The hidden one asks
 * for what every proxy here refuses: if it comes to the service, the proxy has not seen it. `idOf` makes its request id.
 */
export function ambiguousRequests(apiToken: string, idOf: (place: string) => string): [place: string, bytes: string][] {
  return Object.entries(makers).map(([place, make]) => {
    const headers = [`Authorization: Token ${apiToken}`, `X-Request-Id: ${idOf(place)}`]
    const hidden = request(headers, '', 'GET /api/events HTTP/1.1')
    // The outer one is let in too, so that its body is read and not only refused.
    return [place, make(hidden).replace('\r\n', `\r\nAuthorization: Token ${apiToken}\r\n`)]
  })
}

const patience = { forAnAnswer: 2_000, forMore: 100 }

/** Sends bytes as they are, and returns when the other side has hung up or fallen silent. */
export async function provoke(url: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.setTimeout(patience.forAnAnswer, resolve)
  socket.on('error', () => {})
  socket.once('close', resolve)
  socket.on('data', () => socket.setTimeout(patience.forMore))
  socket.write(bytes, 'latin1')
  await promise
  socket.destroy()
}
