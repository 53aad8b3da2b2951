import assert from 'node:assert/strict'
import type { Answer } from '../support/caller.ts'

export const userGroupToken = /^ugt_[0-9A-Za-z]{38}$/

/** What every answer of the service keeps to, good or bad. */
function assertPrivate(answer: Answer): void {
  assert.equal(answer.headers['cache-control'], 'no-store')
  assert.equal(answer.headers.etag, undefined)
  assert.match(String(answer.headers['content-type']), /^application\/json\b/)
}

function assertUserGroup(group: Record<string, unknown>): void {
  assert.deepEqual(Object.keys(group).sort(), ['name', 'provided_id', 'team_id', 'token'])
  assert.ok(Number.isSafeInteger(group.team_id) && Number(group.team_id) > 0, 'team_id is a positive integer')
  assert.equal(typeof group.name, 'string')
  assert.equal(typeof group.provided_id, 'string')
  assert.match(String(group.token), userGroupToken)
}

export function assertFound(answer: Answer, isNew: boolean): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assertPrivate(answer)
  assert.deepEqual(Object.keys(answer.body).sort(), ['new_user_group', 'success', 'user_group'])
  assert.equal(answer.body.success, 1)
  assert.equal(answer.body.new_user_group, isNew)
  assertUserGroup(answer.body.user_group)
}

export function assertRotated(answer: Answer): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  assertPrivate(answer)
  assert.deepEqual(Object.keys(answer.body).sort(), ['success', 'user_group'])
  assert.equal(answer.body.success, 1)
  assertUserGroup(answer.body.user_group)
}

/** The one shape of a failed call; `field` is there when, and only when, the test names the field at fault. */
export function assertError(answer: Answer, status: number, code: string, field?: string): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assertErrorShape(answer)
  assert.equal(answer.body.error.code, code)
  assert.equal(answer.body.error.field, field)
}

export function assertErrorShape(answer: Answer): void {
  assertPrivate(answer)
  const { success, error, request_id, ...rest } = answer.body
  assert.deepEqual(rest, {})
  assert.equal(success, 0)
  assert.match(request_id, /^\S+$/)
  const { code, message, field, ...more } = error
  assert.deepEqual(more, {})
  assert.match(code, /^[a-z]+(_[a-z]+)*$/)
  assert.match(message, /^\S.+/)
  assert.doesNotMatch(message, /node_modules|\.[cm]?[jt]s\b|\bselect\b.+\bfrom\b|\n\s+at /i)
  if ('field' in error) assert.match(field, /^\S/)
}

/** For values a test refuses by the dozen: says which one got through. */
export function assertRefused(answer: Answer, field: string, value: unknown): void {
  assert.equal(answer.status, 400, `${field} ${JSON.stringify(value)} was answered with ${answer.status}`)
  assertErrorShape(answer)
  assert.equal(answer.body.error.code, 'invalid_request')
  const named = String(answer.body.error.field)
  assert.ok(
    named === field || named.startsWith(`${field}.`) || named.startsWith(`${field}[`),
    `${field} ${JSON.stringify(value)}: the error names ${named}`,
  )
}
