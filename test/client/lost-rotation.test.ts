import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fault } from '../support/faulty-proxy.ts'
import { clientOf, failure, runningOnSqlite, unluckyClient } from './client.ts'

const rotations = (seen: readonly string[]) => seen.filter((each) => each === 'POST /api/user').length

const unavailable = {
  status: 503,
  body: '{"success":0,"error":{"code":"unavailable","message":"Later."},"request_id":"r1"}',
}

describe('a rotation whose answer is lost, or about another group', async () => {
  const there = await runningOnSqlite()
  const direct = clientOf(there.service.url)
  let count = 0
  const newGroup = async () => (await direct.getOrCreate({ user_group_id: `group-${count++}` })).user_group
  const currentToken = async (user_group_id: string) => (await direct.getOrCreate({ user_group_id })).user_group.token

  for (const fault of ['lose', 'cut', 'hang'] as const)
    it(`is recovered when it happened (${fault}): the group is looked up, and not rotated again`, async (t) => {
      const { provided_id, token } = await newGroup()
      const { client, proxy } = await unluckyClient(t, there, [fault], { timeoutMs: 500 })
      const { user_group } = await client.rotate(token, { provided_id })
      assert.notEqual(user_group.token, token)
      assert.equal(user_group.token, await currentToken(provided_id))
      assert.equal(rotations(proxy.seen), 1)
    })

  it('is done again when it did not happen', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, ['drop'])
    const { user_group } = await client.rotate(token, { provided_id })
    assert.notEqual(user_group.token, token)
    assert.equal(user_group.token, await currentToken(provided_id))
    assert.equal(rotations(proxy.seen), 2)
  })

  it('is given up when it gets lost every time', async (t) => {
    const { provided_id, token } = await newGroup()
    const faults: Fault[] = ['drop', 'pass', 'pass', 'drop', 'pass', 'pass', 'drop']
    const { client } = await unluckyClient(t, there, faults, { retries: 1 })
    assert.equal((await failure(client.rotate(token, { provided_id }))).code, 'answer_lost')
    assert.equal(await currentToken(provided_id), token)
  })

  it('fails with answer_lost without the id, and when the group cannot be looked up either', async (t) => {
    const { provided_id, token } = await newGroup()
    const withoutId = await unluckyClient(t, there, ['lose'])
    const error = await failure(withoutId.client.rotate(token))
    assert.equal(error.code, 'answer_lost')
    assert.match(error.message, /getOrCreate.*provided_id/)
    assert.doesNotMatch(error.message, /ugt_/)
    assert.equal(withoutId.proxy.seen.length, 1)

    const fresh = await currentToken(provided_id)
    const cutOff = await unluckyClient(t, there, ['lose', 'drop', 'drop'], { retries: 1 })
    assert.equal((await failure(cutOff.client.rotate(fresh, { provided_id }))).code, 'answer_lost')
    const fresher = await currentToken(provided_id)
    const refused = await unluckyClient(t, there, ['lose', unavailable], { retries: 0 })
    const { code, cause } = await failure(refused.client.rotate(fresher, { provided_id }))
    assert.deepEqual([code, (cause as { code: string }).code], ['answer_lost', 'unavailable'])
  })

  it("never hands out another group's token when the id was the wrong one, nor creates a group", async (t) => {
    const { token } = await newGroup()
    const other = await newGroup()
    const { client } = await unluckyClient(t, there, ['lose'])
    const error = await failure(client.rotate(token, { provided_id: other.provided_id }))
    assert.deepEqual([error.code, error.field], ['answer_lost', 'provided_id'])

    const { token: third } = await newGroup()
    const unlucky = await unluckyClient(t, there, ['lose'])
    const missing = await failure(unlucky.client.rotate(third, { provided_id: 'nobody' }))
    assert.deepEqual([missing.code, missing.field], ['answer_lost', 'provided_id'])
    assert.match(missing.message, /renamed.* may have been rotated/)
    assert.equal((missing.cause as { code: string }).code, 'user_group_not_found')
    assert.equal((await failure(direct.getUserGroup('nobody'))).code, 'user_group_not_found')
  })

  it('takes no rotation of long ago for this one, and asks for no exact clock', async (t) => {
    const { token } = await newGroup()
    const other = await newGroup()
    await direct.rotate(other.token)
    const group = await newGroup()
    const now = Date.now()
    const inMinutes = (minutes: number) => t.mock.method(Date, 'now', () => now + minutes * 60_000)
    inMinutes(6)
    const { client } = await unluckyClient(t, there, ['lose'])
    const error = await failure(client.rotate(token, { provided_id: other.provided_id }))
    assert.deepEqual([error.code, error.field], ['answer_lost', 'provided_id'])

    for (const minutes of [4, -60]) {
      inMinutes(minutes)
      const { client } = await unluckyClient(t, there, ['lose'])
      const current = await currentToken(group.provided_id)
      const { user_group } = await client.rotate(current, { provided_id: group.provided_id })
      assert.equal(user_group.token, await currentToken(group.provided_id))
      assert.notEqual(user_group.token, current)
    }
  })

  for (const [when, request, rotated] of [
    ['between the two looks at the group', 2, 1],
    ['behind both looks at the group', 3, 2],
  ] as const)
    it(`is recovered when it happened late, ${when}`, async () => {
      const { provided_id, token } = await newGroup()
      const seen: string[] = []
      const late = clientOf(there.service.url, {
        fetch: async (url, init) => {
          seen.push(`${init.method} ${new URL(url).pathname}`)
          if (seen.length === 1) throw new Error('lost')
          const answer = await fetch(url, init)
          if (seen.length === request) await direct.rotate(token)
          return answer
        },
      })
      const { user_group } = await late.rotate(token, { provided_id })
      assert.notEqual(user_group.token, token)
      assert.equal(user_group.token, await currentToken(provided_id))
      assert.equal(rotations(seen), rotated)
    })

  it('hands out no token of another group than asked for, and says that it was rotated', async () => {
    const { token, provided_id } = await newGroup()
    const other = await newGroup()
    const { code, field, message } = await failure(direct.rotate(token, { provided_id: other.provided_id }))
    assert.deepEqual([code, field], ['unexpected_answer', 'provided_id'])
    assert.match(message, /renamed\?.* was rotated .*cache/)
    assert.notEqual(await currentToken(provided_id), token)
    assert.equal(await currentToken(other.provided_id), other.token)
  })

  it('is repeated when the service refused it with 503', async (t) => {
    const { token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [unavailable])
    assert.notEqual((await client.rotate(token)).user_group.token, token)
    assert.equal(rotations(proxy.seen), 2)
  })

  it('is recovered when the service did it and did not know, having lost its database', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [{ ...unavailable, afterWork: true }])
    const { user_group } = await client.rotate(token, { provided_id })
    assert.equal(user_group.token, await currentToken(provided_id))
    assert.notEqual(user_group.token, token)
    assert.equal(rotations(proxy.seen), 2)
  })
})
