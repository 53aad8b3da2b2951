import assert from 'node:assert/strict'
import { catalogue } from '../../src/errors.ts'
import type { RawAnswer } from './raw-request.ts'

/** A refusal, byte for byte: the one shape, a code of the catalogue, and nothing of the inside. */
export function assertRefusedInShape({ status, headers, text }: RawAnswer, method: string): void {
  assert.ok(status >= 400 && status < 500, `status ${status}: ${text}`)
  assert.equal(headers['cache-control'], 'no-store')
  assert.match(headers['content-type'] ?? '', /^application\/json/)
  if (method === 'HEAD') return
  const { success, error, request_id, ...more } = JSON.parse(text)
  const { code, message, field, ...rest } = error
  assert.deepEqual([success, more, rest], [0, {}, {}])
  assert.equal(catalogue[code as keyof typeof catalogue].status, status)
  assert.ok(typeof message === 'string' && message.length > 10 && message.length < 1_000, message)
  assert.ok(field === undefined || typeof field === 'string')
  assert.match(request_id, /^[\w.:-]{1,128}$/)
  assert.equal(headers['x-request-id'], request_id)
  assert.doesNotMatch(text, /ug[ta]_\w{20}|node:|\.ts\b|select |insert /i)
}
