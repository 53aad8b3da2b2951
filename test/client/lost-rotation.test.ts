import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { clientOf, disturbedClient, failure, runningOnSqlite, unluckyClient } from './client.ts'

const rotations = (seen: readonly string[]) => seen.filter((each) => each === 'POST /api/user').length

const unavailable = {
  status: 503,
  body: '{"success":0,"error":{"code":"unavailable","message":"Later."},"request_id":"r1"}',
}

/** What rotate asks for before it rotates. */
const looks = ['pass', 'pass'] as const

describe('a rotation whose answer is lost, or about another group', async () => {
  const there = await runningOnSqlite()
  const direct = clientOf(there.service.url)
  let count = 0
  const newGroup = async () => (await direct.getOrCreate({ user_group_id: `group-${count++}` })).user_group
  const currentToken = async (user_group_id: string) => (await direct.getOrCreate({ user_group_id })).user_group.token
  const isThere = async (id: string) => (await direct.listUserGroups({ q: id })).user_groups.length > 0

  for (const fault of ['lose', 'cut', 'hang'] as const)
    it(`is recovered when it happened (${fault}): the group is looked up`, async (t) => {
      const { provided_id, token } = await newGroup()
      const { client, proxy } = await unluckyClient(t, there, [...looks, fault], { timeoutMs: 500 })
      const { user_group } = await client.rotate(token, { provided_id })
      assert.notEqual(user_group.token, token)
      assert.equal(user_group.token, await currentToken(provided_id))
      assert.equal(rotations(proxy.seen), 2)
    })

  it('is recovered when it may not be repeated', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [...looks, 'lose'], { retries: 0 })
    const { user_group } = await client.rotate(token, { provided_id })
    assert.equal(user_group.token, await currentToken(provided_id))
    assert.notEqual(user_group.token, token)
    assert.equal(rotations(proxy.seen), 1)
  })

  it('is done again when it did not happen', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [...looks, 'drop'])
    const { user_group } = await client.rotate(token, { provided_id })
    assert.notEqual(user_group.token, token)
    assert.equal(user_group.token, await currentToken(provided_id))
    assert.equal(rotations(proxy.seen), 2)
  })

  it('is given up after as many repetitions as allowed, whatever became of each', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [...looks, unavailable, 'drop', unavailable], {
      retries: 2,
    })
    const { code, status, requestId, message } = await failure(client.rotate(token, { provided_id }))
    assert.deepEqual([code, status, requestId], ['answer_lost', 503, 'r1'])
    assert.match(message, /may have been rotated/)
    assert.equal(rotations(proxy.seen), 3)
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
    const cutOff = await unluckyClient(t, there, [...looks, 'lose', 'drop'], { retries: 0 })
    assert.equal((await failure(cutOff.client.rotate(fresh, { provided_id }))).code, 'answer_lost')
    assert.notEqual(await currentToken(provided_id), fresh)
  })

  it('does not begin with the id of another group, or of none: nothing is rotated, nothing created', async (t) => {
    const { token, provided_id } = await newGroup()
    const other = await newGroup()
    await direct.rotate(other.token)
    for (const [id, reason, field] of [
      [other.provided_id, 'conflict', 'provided_id'],
      ['nobody', 'user_group_not_found', undefined],
    ] as const) {
      const { client, proxy } = await unluckyClient(t, there, [...looks, 'lose'])
      const error = await failure(client.rotate(token, { provided_id: id }))
      assert.deepEqual([error.code, error.field], [reason, field])
      assert.equal(rotations(proxy.seen), 0)
    }
    assert.equal(await currentToken(provided_id), token)
    assert.equal(await isThere('nobody'), false)
  })

  it('is none where the look before it got no answer: nothing was sent that rotates', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client } = await unluckyClient(t, there, ['pass', 'lose'], { retries: 0 })
    assert.equal((await failure(client.rotate(token, { provided_id }))).code, 'connection_failed')
  })

  for (const [when, behind] of [
    ['before the group is looked at', 3],
    ['between the two looks at the group', 5],
  ] as const)
    it(`hands out no token of a group that gets the id ${when}`, async () => {
      const { provided_id, token } = await newGroup()
      const client = disturbedClient(there, { lost: 3, behind }, async () => {
        await direct.updateUserGroup(provided_id, { provided_id: `${provided_id} renamed` })
        await direct.getOrCreate({ user_group_id: provided_id })
      })
      assert.equal((await failure(client.rotate(token, { provided_id }))).code, 'answer_lost')
      assert.notEqual(await currentToken(`${provided_id} renamed`), token)
    })

  it('creates no group where it was deleted since', async () => {
    const { provided_id, token } = await newGroup()
    const client = disturbedClient(there, { lost: 3 }, () => direct.deleteUserGroup(provided_id))
    assert.equal((await failure(client.rotate(token, { provided_id }))).code, 'answer_lost')
    assert.equal(await isThere(provided_id), false)
  })

  it('hands out no token of another group than asked for', async (t) => {
    const { provided_id, token } = await newGroup()
    const body = '{"success":1,"user_group":{"token":"ugt_x","provided_id":"another"}}'
    const { client } = await unluckyClient(t, there, [...looks, { status: 200, body }])
    const { code, message } = await failure(client.rotate(token, { provided_id }))
    assert.equal(code, 'unexpected_answer')
    assert.match(message, /may have been rotated/)
  })

  it('is none where somebody else was first', async () => {
    const { provided_id, token } = await newGroup()
    const client = disturbedClient(there, { lost: 0, behind: 2 }, () => direct.rotate(token))
    assert.equal((await failure(client.rotate(token, { provided_id }))).code, 'token_already_rotated')
  })

  it('is repeated when the service refused it with 503', async (t) => {
    const { token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [unavailable])
    assert.notEqual((await client.rotate(token)).user_group.token, token)
    assert.equal(rotations(proxy.seen), 2)
  })

  it('is recovered when the service did it and did not know, having lost its database', async (t) => {
    const { provided_id, token } = await newGroup()
    const { client, proxy } = await unluckyClient(t, there, [...looks, { ...unavailable, afterWork: true }])
    const { user_group } = await client.rotate(token, { provided_id })
    assert.equal(user_group.token, await currentToken(provided_id))
    assert.notEqual(user_group.token, token)
    assert.equal(rotations(proxy.seen), 2)
  })

  it('may have happened where the service did not know, and there is no id: the second try tells nothing', async (t) => {
    const { token } = await newGroup()
    const { client } = await unluckyClient(t, there, [{ ...unavailable, afterWork: true }])
    const { code, status, cause } = await failure(client.rotate(token))
    assert.deepEqual([code, status, (cause as { code: string }).code], ['answer_lost', 409, 'token_already_rotated'])
  })
})
