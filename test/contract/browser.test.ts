import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { operations } from '../../src/operations.ts'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { RawConnection } from './raw-connection.ts'

/** What a browser is told of every answer, and what it is never told: no cookie, and no other site is let in. */
function assertHarmless({ headers }: Answer): void {
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.match(String(headers['content-type']), /^(application\/json|text\/html); charset=utf-8$/)
  assert.equal(headers['cache-control'], 'no-store')
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^(set-cookie|access-control-.+)$/)
}

function assertInert(answer: Answer): void {
  assertHarmless(answer)
  const policy = String(answer.headers['content-security-policy']).split(/; */)
  for (const directive of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
    assert.ok(policy.includes(`${directive} 'none'`), policy.join())
  assert.equal(answer.headers['cross-origin-opener-policy'], 'same-origin')
  assert.equal(answer.headers['x-frame-options'], 'DENY')
  assert.equal(answer.headers['referrer-policy'], 'no-referrer')
}

for (const engine of engines.slice(0, 1))
  describe('a browser that meets the service', async () => {
    const { caller, service } = await running(undefined, engine)

    it('may show the pages for people and programs, and nothing in them', async () => {
      for (const path of ['/api/docs', '/api/openapi.json']) {
        const page = await caller.call('GET', path)
        assert.equal(page.status, 200)
        assertInert(page)
      }
    })

    it('is told the same with every error, HTTP that cannot be read included', async () => {
      const anonymous = { headers: { authorization: '' } }
      for (const { method, path } of operations) {
        const answer = await caller.call(method, path, anonymous)
        if (answer.status === 200) assertHarmless(answer)
        else assertInert(answer)
        assertInert(await caller.call('OPTIONS', path, { headers: { origin: 'https://example.com' } }))
      }
      assertInert(await caller.call('GET', '/'))
      assertInert(await caller.call('GET', '/%'))
      for (const broken of [
        'garbage\r\n\r\n',
        'GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
      ]) {
        const connection = new RawConnection(service.url).send(broken)
        assertInert(await connection.answer())
        connection.close()
      }
    })

    it('can do nothing for another site: it is not let in, and a form is not understood', async () => {
      const headers = { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' }
      assertHarmless(await caller.call('GET', '/api/user', { headers, json: { user_group_id: randomUUID() } }))
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a']) {
        const text = JSON.stringify({ user_group_id: randomUUID() })
        const answer = await caller.call('POST', '/api/user_groups', {
          headers: { ...headers, 'content-type': type },
          text,
        })
        assert.equal(answer.status, 415)
        assertInert(answer)
      }
    })
  })
