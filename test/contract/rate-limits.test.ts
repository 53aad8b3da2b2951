import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { commandsBeside } from './commands.ts'
import { assertError, assertFound } from './expectations.ts'

function assertRateLimited(answer: Answer): void {
  assertError(answer, 429, 'rate_limited')
  assert.match(String(answer.headers['retry-after']), /^[1-9]\d*$/)
}

function assertRefusedForFailures(answer: Answer): void {
  assertRateLimited(answer)
  assert.match(answer.body.error.message, /failed authentications.*check the API token.*Retry-After/)
}

for (const engine of engines.slice(0, 1)) {
  describe('the rate limit of an API token', async () => {
    const perSecond = 2
    const { caller, environment } = await running(undefined, engine, { UGS_RATE_LIMIT: String(perSecond) })
    const other = await commandsBeside(environment).makeApiToken('--scope', 'provision')

    it('lets a burst of twice the rate through, then says how long to wait, and keeps its word', async () => {
      const started = performance.now()
      const answers = await Promise.all(Array.from({ length: 30 }, () => caller.getOrCreate(randomUUID())))
      const seconds = (performance.now() - started) / 1000
      const served = answers.filter((answer) => answer.status === 200)
      const refused = answers.filter((answer) => answer.status !== 200)
      assert.ok(served.length >= 2 * perSecond, `${served.length} served`)
      assert.ok(served.length <= 2 * perSecond + Math.ceil(seconds * perSecond), `${served.length} served`)
      for (const answer of refused) {
        assertRateLimited(answer)
        assert.match(answer.body.error.message, /^Too many requests;/)
        assert.ok(Object.keys(answer.headers).some((name) => name.startsWith('ratelimit')))
      }
      await pause(Number(refused.at(-1)?.headers['retry-after']) * 1000)
      assertFound(await caller.getOrCreate(randomUUID()), true)
    })

    it('is that of one token: another is served meanwhile', async () => {
      const flood = Array.from({ length: 20 }, () => caller.getOrCreate(randomUUID()))
      const headers = { authorization: `Token ${other.token}` }
      assertFound(await caller.call('GET', '/api/user', { json: { user_group_id: randomUUID() }, headers }), true)
      assert.ok((await Promise.all(flood)).some((answer) => answer.status === 429))
    })

    it('does nothing for a request it refuses', async () => {
      const ids = Array.from({ length: 20 }, () => randomUUID())
      const answers = await Promise.all(ids.map((id) => caller.getOrCreate(id)))
      const refused = ids.filter((_, index) => answers[index]?.status === 429)
      assert.ok(refused.length > 0)
      const headers = { authorization: `Token ${other.token}` }
      const json = { user_group_id: refused[0] }
      assertFound(await caller.call('GET', '/api/user', { json, headers }), true)
    })
  })

  describe('without a rate limit', async () => {
    const { caller } = await running(undefined, engine)

    it('nobody is refused', async () => {
      const answers = await Promise.all(Array.from({ length: 300 }, () => caller.getOrCreate('acme')))
      assert.deepEqual([...new Set(answers.map((answer) => answer.status))], [200])
    })
  })

  describe('the limit of failed authentications', async () => {
    const limit = 5
    const { caller } = await running(undefined, engine, { UGS_AUTH_FAILURE_LIMIT: String(limit) })

    it('turns 401 into 429, and never refuses a valid token for it', async () => {
      const failing = (authorization: string) =>
        caller.call('GET', '/api/user', { json: { user_group_id: 'acme' }, headers: { authorization } })
      for (let failure = 0; failure < limit; failure++) {
        assert.equal((await failing(failure % 2 ? 'Bearer x' : `Token wrong-${failure}`)).status, 401)
        assertFound(await caller.getOrCreate(randomUUID()), true)
      }
      for (const authorization of ['Token wrong', 'Bearer x', '', `Token uga_${'0'.repeat(38)}`])
        assertRefusedForFailures(await failing(authorization))
      // Anybody can say to come from elsewhere.
      for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'true-client-ip'])
        assertRefusedForFailures(
          await caller.call('GET', '/api/user', { headers: { authorization: 'Token wrong', [name]: 'for=192.0.2.1' } }),
        )
      assertFound(await caller.getOrCreate(randomUUID()), true)
    })
  })
}
