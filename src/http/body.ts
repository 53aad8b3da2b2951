import { isUtf8 } from 'node:buffer'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../errors.ts'
import { parseJson } from '../json.ts'

export const bodyLimit = 256 * 1024

/** JSON in UTF-8 and nothing else. An empty body is undefined: an operation says what that means to it. */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit }, (request, body: Buffer, done) => {
    try {
      done(null, readJson(request, body))
    } catch (error) {
      done(error instanceof ServiceError ? error : new ServiceError('invalid_json'))
    }
  })
}

function readJson(request: FastifyRequest, body: Buffer): unknown {
  if (!isPlainUtf8(request)) throw new ServiceError('unsupported_media_type')
  if (body.length === 0) return undefined
  // Decoding would replace bad bytes, and two different ids could become one.
  if (!isUtf8(body)) throw new ServiceError('invalid_json')
  return parseJson(body.toString())
}

function isPlainUtf8({ headers }: FastifyRequest): boolean {
  if (headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined) return true
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
  const encoding = headers['content-encoding']
  return /^utf-?8$/i.test(charset ?? 'utf-8') && /^identity$/i.test(encoding ?? 'identity')
}
