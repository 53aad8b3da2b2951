import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { assertError, assertFound, assertRefused, assertRotated } from './expectations.ts'

const neverIssued = `ugt_${'0'.repeat(38)}`

for (const engine of engines)
  describe(`rotating a token on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)

    const newGroup = async () => (await caller.getOrCreate(randomUUID(), { name: 'Acme' })).body.user_group
    const currentToken = async (group: { provided_id: string }): Promise<string> =>
      (await caller.getOrCreate(group.provided_id)).body.user_group.token

    it('returns the same group with a new token', async () => {
      const group = await newGroup()
      const rotated = await caller.rotate(group.token)
      assertRotated(rotated)
      assert.notEqual(rotated.body.user_group.token, group.token)
      assert.deepEqual(rotated.body.user_group, { ...group, token: rotated.body.user_group.token })
    })

    it('lets a caller who lost the answer look the new token up', async () => {
      const group = await newGroup()
      const rotated = await caller.rotate(group.token)
      const found = await caller.getOrCreate(group.provided_id)
      assertFound(found, false)
      assert.deepEqual(found.body.user_group, rotated.body.user_group)
    })

    it('ends the old token at once: it does not rotate again, and the answer says to look the group up', async () => {
      const group = await newGroup()
      const { token } = (await caller.rotate(group.token)).body.user_group
      const again = await caller.rotate(group.token)
      assertError(again, 409, 'token_already_rotated')
      assert.match(again.body.error.message, /look\b.*\bup/)
      assert.equal(await currentToken(group), token)
    })

    it('remembers every token it ever rotated, and none of them comes back', async () => {
      const group = await newGroup()
      const tokens = [group.token]
      for (let round = 0; round < 5; round++) tokens.push((await caller.rotate(tokens.at(-1))).body.user_group.token)
      assert.equal(new Set(tokens).size, 6)
      for (const old of tokens.slice(0, -1)) assertError(await caller.rotate(old), 409, 'token_already_rotated')
      assert.equal(await currentToken(group), tokens.at(-1))
    })

    it('leaves every other group alone', async () => {
      const [group, other] = [await newGroup(), await newGroup()]
      await caller.rotate(group.token)
      assert.equal(await currentToken(other), other.token)
      assertRotated(await caller.rotate(other.token))
    })

    it('lets exactly one of 50 concurrent callers win', async () => {
      const group = await newGroup()
      const answers = await Promise.all(Array.from({ length: 50 }, () => caller.rotate(group.token)))
      const [winner, ...others] = answers.sort((a, b) => a.status - b.status)
      assert.ok(winner)
      assertRotated(winner)
      for (const loser of others) assertError(loser, 409, 'token_already_rotated')
      assert.equal(await currentToken(group), winner.body.user_group.token)
    })

    it('does not know a token that was never issued', async () => {
      const { token } = await newGroup()
      const swapped = token.at(-1) === 'a' ? `${token.slice(0, -1)}b` : `${token.slice(0, -1)}a`
      const strangers = [
        neverIssued,
        swapped,
        token.slice(0, -1),
        `${token}0`,
        `${token} `,
        ` ${token}`,
        token.toUpperCase(),
        token.slice(4),
        'x',
        '中',
        'x'.repeat(10_000),
        `${token}\u0000`,
        `${token}\ud800`,
        '%',
        "' or 1=1 --",
      ]
      for (const stranger of strangers) assertError(await caller.rotate(stranger), 404, 'token_not_found')
      assertRotated(await caller.rotate(token))
    })

    it('never rotates without current_token: a GET that a client turned into a POST does nothing', async () => {
      const group = await newGroup()
      const { provided_id, token } = group
      for (const json of [{}, { user_group_id: provided_id }, { user_group_id: provided_id, name: 'Acme' }, { token }])
        assertError(await caller.call('POST', '/api/user', { json }), 400, 'invalid_request', 'current_token')
      assert.equal(await currentToken(group), token)
      const id = randomUUID()
      const turned = await caller.call('POST', '/api/user', { json: { user_group_id: id } })
      assertError(turned, 400, 'invalid_request', 'current_token')
      assert.match(turned.body.error.message, /replaces.*look.* up.*GET \/api\/user or POST \/api\/user_groups$/)
      assertFound(await caller.getOrCreate(id), true)
    })

    it('refuses a current_token that is not a string', async () => {
      const { token } = await newGroup()
      for (const value of [42, true, null, [], [token], {}, { token }])
        assertRefused(await caller.rotate(value), 'current_token', value)
      assertRotated(await caller.rotate(token))
    })

    it('asks for the body that is missing', async () => {
      assertError(await caller.call('POST', '/api/user'), 400, 'missing_body')
    })

    it('ignores fields it does not know, filename among them', async () => {
      const { token, provided_id } = await newGroup()
      const rotated = await caller.rotate(token, { filename: 'a.mp4', name: 'Other', user_group_id: 'x', token: 'y' })
      assertRotated(rotated)
      assert.equal(rotated.body.user_group.name, 'Acme')
      assert.equal(rotated.body.user_group.provided_id, provided_id)
    })

    it('works the same with a trailing slash', async () => {
      const { token } = await newGroup()
      assertRotated(await caller.call('POST', '/api/user/', { json: { current_token: token } }))
      assertError(await caller.rotate(token), 409, 'token_already_rotated')
    })

    it('knows nothing of /videos', async () => {
      const { token } = await newGroup()
      for (const path of ['/videos', '/api/videos', '/videos/']) {
        const json = { current_token: token, filename: 'a.mp4' }
        assertError(await caller.call('POST', path, { json }), 404, 'not_found')
      }
      assertRotated(await caller.rotate(token))
    })

    it('takes a grace of whole seconds, from none to a week', async () => {
      const group = await newGroup()
      let { token } = group
      for (const seconds of [0, 1, 60, 604_800]) {
        const rotated = await caller.rotate(token, { grace_seconds: seconds })
        assertRotated(rotated)
        token = rotated.body.user_group.token
      }
      const text = `{"current_token":"${token}","grace_seconds":6e1}`
      assertRotated(await caller.call('POST', '/api/user', { text }))
    })

    it('refuses any other grace, and then rotates nothing', async () => {
      const group = await newGroup()
      for (const value of [-1, 604_801, 1.5, 0.1, 1e300, '60', '', true, null, [], [60], {}])
        assertRefused(await caller.rotate(group.token, { grace_seconds: value }), 'grace_seconds', value)
      assert.equal(await currentToken(group), group.token)
      assertRotated(await caller.rotate(group.token))
    })

    it('never rotates the old token, even in its grace', async () => {
      const group = await newGroup()
      const { token } = (await caller.rotate(group.token, { grace_seconds: 3600 })).body.user_group
      for (const more of [{}, { grace_seconds: 0 }, { grace_seconds: 3600 }])
        assertError(await caller.rotate(group.token, more), 409, 'token_already_rotated')
      assert.equal(await currentToken(group), token)
      assertRotated(await caller.rotate(token))
      assertError(await caller.rotate(group.token), 409, 'token_already_rotated')
    })
  })
