import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { Fault } from '../support/faulty-proxy.ts'
import { clientOf, failure, runningOnSqlite, unluckyClient } from './client.ts'

const unavailable = {
  status: 503,
  body: '{"success":0,"error":{"code":"unavailable","message":"Later."},"request_id":"r1"}',
}
const reason = new Error('the user left')

describe('a call of the client', async () => {
  const there = await runningOnSqlite()
  const direct = clientOf(there.service.url)

  it('ends each attempt at its time-out, while the answer comes too, and repeats it', async (t) => {
    const { client, proxy } = await unluckyClient(t, there, ['hang', 'stall'], { timeoutMs: 250, retries: 9 })
    assert.equal((await client.getTeam()).team.id, 1)
    assert.ok(proxy.seen.length >= 3)
    const hopeless = await unluckyClient(t, there, ['hang'], { timeoutMs: 250, retries: 0 })
    assert.equal((await failure(hopeless.client.getTeam())).code, 'timed_out')
  })

  it('ends an attempt after ten seconds unless told otherwise', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const ends: number[] = []
    const silent = clientOf(there.service.url, {
      retries: 0,
      fetch: (_, { signal }) =>
        new Promise((_, reject) => {
          for (const milliseconds of [9_999, 1]) {
            t.mock.timers.tick(milliseconds)
            if (signal.aborted) ends.push(milliseconds)
          }
          reject(signal.reason)
        }),
    })
    assert.equal((await failure(silent.getTeam())).code, 'timed_out')
    assert.deepEqual(ends, [1])
  })

  it("ends at the caller's signal: before, while it waits for an answer, and between repetitions", async (t) => {
    const later = { ...unavailable, headers: { 'retry-after': '1' } }
    const { client, proxy } = await unluckyClient(t, there, ['hang', later, later])
    await assert.rejects(client.getTeam({ signal: AbortSignal.abort(reason) }), reason)
    assert.equal(proxy.seen.length, 0)
    for (let seen = 1; seen <= 2; seen += 1) {
      const leaving = new AbortController()
      setTimeout(() => leaving.abort(reason), 200)
      await assert.rejects(client.getTeam({ signal: leaving.signal }), reason)
      assert.equal(proxy.seen.length, seen)
    }
  })

  it("ends at the caller's signal where it asks how the service is", async () => {
    for (const call of ['healthz', 'readyz'] as const)
      await assert.rejects(direct[call]({ signal: AbortSignal.abort(reason) }), reason)
  })

  for (const [look, faults] of [
    ['first', ['pass', 'pass', 'lose', 'hang']],
    ['second', ['pass', 'pass', 'lose', 'pass', 'hang']],
  ] as [string, Fault[]][])
    it(`ends at the caller's signal in the ${look} look at a group whose rotation was lost`, async (t) => {
      const { provided_id, token } = (await direct.getOrCreate({ user_group_id: `group of the ${look}` })).user_group
      const { client, proxy } = await unluckyClient(t, there, faults, { retries: 0 })
      const leaving = new AbortController()
      const ended = assert.rejects(client.rotate(token, { provided_id, signal: leaving.signal }), reason)
      await eventually('it looks at the group', () => proxy.seen.length === faults.length)
      leaving.abort(reason)
      await ended
      assert.equal(proxy.seen.length, faults.length)
    })

  it('takes null for no signal, as fetch does', async () => {
    const { user_group } = await direct.getOrCreate({ user_group_id: 'without a signal' }, { signal: null })
    const { provided_id, token } = user_group
    await direct.rotate(token, { provided_id, signal: null })
    await direct.updateUserGroup(provided_id, { provided_id: 'still without' }, { signal: null })
    for await (const group of direct.userGroups({ q: 'still' }, { signal: null }))
      assert.equal(group.provided_id, 'still without')
  })

  it("puts one listener on the caller's signal, however many calls have it", async () => {
    const leaving = new AbortController()
    const { signal } = leaving
    const listeners = () => getEventListeners(signal, 'abort').length
    const silent = clientOf(there.service.url, {
      fetch: (_, { signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    })
    const refused = clientOf(there.service.url, { fetch: () => Promise.reject(new Error('no way')) })
    const calls = [silent, silent, refused, refused].map((client) => client.getTeam({ signal }))
    const ended = calls.map((call) => assert.rejects(call, reason))
    assert.equal(listeners(), 1)
    await direct.getTeam({ signal })
    assert.equal(listeners(), 1)
    leaving.abort(reason)
    await Promise.all(ended)
    assert.equal(listeners(), 0)
  })

  it('leaves nothing behind: no listener on a signal that outlives it, no timer that keeps a process', async (t) => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const { client } = await unluckyClient(t, there, [unavailable])
    const { signal } = new AbortController()
    await direct.getTeam()
    const before = timers()
    await client.getTeam({ signal })
    assert.equal(getEventListeners(signal, 'abort').length, 0)
    assert.ok(timers() <= before, `${timers()} timers, and ${before} before`)
  })
})
