import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../errors.ts'
import { parseJson } from '../json.ts'
import { OneByOne } from '../one-by-one.ts'
import type { Request } from './exchange.ts'
import { PlainRequest } from './plain-request.ts'

const bodyLimit = 256 * 1024

/** More than requests commonly have. */
const large = 4 * 1024

/** One of 256 KiB may take a third of a second: whose last bytes come together would hold everybody up for all of them. */
const largeBodies = new OneByOne<() => void>((pass) => pass())

export function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
}

/** JSON in UTF-8 and nothing else. No body is undefined: an operation says what that means to it. */
export function readBody(request: Request, done: (body: unknown) => void, fail: (error: unknown) => void): void {
  const { headers } = request
  // Before its type is looked at: a caller whose body was lost on the way is to be told that, and nothing else.
  if (!hasBody(request)) {
    done(undefined)
    return
  }
  if (!isPlainJson(headers)) throw new ServiceError('unsupported_media_type')
  if (Number(headers['content-length']) > bodyLimit) throw new ServiceError('body_too_large')
  if (request instanceof PlainRequest) {
    passOn(request.body, done, fail)
    return
  }
  let body: Buffer | undefined
  let length = 0
  request.on('data', (chunk: Buffer) => {
    const before = length
    length += chunk.length
    if (length <= bodyLimit) body = body === undefined ? chunk : appended(body, before, chunk)
    else if (before <= bodyLimit) fail(new ServiceError('body_too_large'))
  })
  request.on('end', () => {
    if (length > bodyLimit) return
    const whole = body?.length === length ? body : body?.subarray(0, length)
    if (length > large) largeBodies.add(() => passOn(whole, done, fail))
    else passOn(whole, done, fail)
  })
  // The client went away, or broke its own body off.
  request.on('error', () => fail(new ServiceError('invalid_request')))
}

const leastRoom = 1024

/** Into one buffer that grows: kept as they come, chunks of a byte take fifty times their size. */
function appended(body: Buffer, length: number, chunk: Buffer): Buffer {
  const needed = length + chunk.length
  const room = needed <= body.length ? body : Buffer.allocUnsafeSlow(Math.max(leastRoom, 2 * needed))
  if (room !== body) body.copy(room, 0, 0, length)
  chunk.copy(room, length)
  return room
}

function passOn(body: Buffer | undefined, done: (body: unknown) => void, fail: (error: unknown) => void): void {
  try {
    done(parseBody(body))
  } catch (error) {
    fail(error)
  }
}

function parseBody(body: Buffer | undefined): unknown {
  if (body === undefined) return undefined
  // Decoding would replace bad bytes, and two different ids could become one.
  if (!isUtf8(body)) throw new ServiceError('invalid_json')
  const text = body.toString()
  try {
    return parseJson(text)
  } catch {
    throw new ServiceError('invalid_json')
  }
}

/** Also behind one that is UTF-8: nobody can tell which of the two is meant. */
const otherCharset = /(?:^|;)\s*charset\s*=(?!\s*("?)utf-?8\1\s*(?:;|$))/i

function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
  // Node undoes the chunks, and leaves whatever else was done to the body on its way.
  const coding = headers['transfer-encoding']
  if (coding !== undefined && !/^chunked$/i.test(coding)) return false
  if (type === 'application/json' && encoding === 'identity') return true
  const [, parameters = ''] = /^application\/json\s*(?:;(.*))?$/is.exec(type) ?? ['', 'charset=none']
  return !otherCharset.test(parameters) && /^identity$/i.test(encoding)
}
