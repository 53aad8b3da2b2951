import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { issueApiToken } from '../../src/api-tokens/issue.ts'
import { newId } from '../../src/ids.ts'
import { engines } from '../support/engines.ts'
import { noon, storeOn } from '../support/store.ts'
import { times } from '../support/times.ts'

for (const engine of engines)
  describe(`API tokens in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('are found by their hash, with their team and all that decides what they may do', async () => {
      const team = await on.newTeam()
      const token = on.newApiToken({ name: 'ci', scopes: ['verify', 'admin'], expiresAt: noon + 5 })
      assert.equal(await team.apiTokens.add(token, noon), true)
      const { hash, ...known } = token
      const kept = { ...known, createdAt: noon, revokedAt: null, lastUsedAt: null }
      assert.deepEqual(await on.service.store.findCaller(hash), { ...kept, teamId: team.teamId })
      assert.deepEqual(await team.apiTokens.all(), [kept])
      assert.deepEqual(await team.trail(), [`api_token.created ${token.id}`])
    })

    it('are not found by any other hash', async () => {
      const { store, tokens } = on.service
      await (await on.newTeam()).apiTokens.add(on.newApiToken(), noon)
      for (const hash of [tokens.hash('another one'), new Uint8Array(32), new Uint8Array()])
        assert.equal(await store.findCaller(hash), undefined)
    })

    it('are added once: a hash that is known, to whatever team, is left as it is', async () => {
      const [team, other] = [await on.newTeam(), await on.newTeam()]
      const token = on.newApiToken()
      assert.equal(await team.apiTokens.add(token, noon), true)
      const again = on.newApiToken({ hash: token.hash, name: 'Again', scopes: ['admin'] })
      for (const adder of [team, other]) assert.equal(await adder.apiTokens.add(again, noon), false)
      assert.deepEqual((await on.service.store.findCaller(token.hash))?.name, token.name)
      assert.deepEqual((await on.service.store.findCaller(token.hash))?.teamId, team.teamId)
      assert.deepEqual(await other.apiTokens.all(), [])
      assert.deepEqual(await other.trail(), [])
    })

    it('are added by exactly one of 50 who add the same at once', async () => {
      const team = await on.newTeam()
      const { hash } = on.newApiToken()
      const added = await Promise.all(times(50, () => team.apiTokens.add(on.newApiToken({ hash }), noon)))
      assert.equal(added.filter(Boolean).length, 1)
      assert.equal((await team.apiTokens.all()).length, 1)
      assert.equal((await team.trail()).length, 1)
    })

    it('never take the place of another whose made id is the same', async () => {
      const [team, other] = [await on.newTeam(), await on.newTeam()]
      const token = on.newApiToken()
      await team.apiTokens.add(token, noon)
      await assert.rejects(other.apiTokens.add(on.newApiToken({ id: token.id }), noon), { code: 'conflict' })
      assert.equal((await on.service.store.findCaller(token.hash))?.teamId, team.teamId)
      assert.deepEqual([await other.apiTokens.all(), await other.trail()], [[], []])
    })

    it('get the next id when another has the one that was made for them', async () => {
      const [team, other] = [await on.newTeam(), await on.newTeam()]
      const another = on.newApiToken()
      const { store, tokens } = on.service
      // At a time that is past the next id is one more than the last.
      const next = newId(noon) + 1
      await other.apiTokens.add({ ...another, id: next }, noon)
      const wish = { name: 'ci', scopes: ['verify'], expiresAt: null } as const
      const { token, secret } = await issueApiToken(wish, tokens, noon, (made) => team.apiTokens.add(made, noon))
      assert.equal(token.id, next + 1)
      assert.equal((await store.findCaller(tokens.hash(secret)))?.id, next + 1)
    })

    it('are listed in the order they were made, those revoked or expired too, and never with their hash', async () => {
      const team = await on.newTeam()
      const made = times(5, (index) => on.newApiToken({ name: `Token ${index}`, expiresAt: noon - index }))
      for (const token of made) await team.apiTokens.add(token, noon)
      await team.apiTokens.revoke(made[1]?.id ?? 0, noon + 1, 'may_go')
      const listed = await team.apiTokens.all()
      assert.deepEqual(
        listed.map(({ id }) => id),
        made.map(({ id }) => id),
      )
      assert.deepEqual(
        listed.map(({ revokedAt }) => revokedAt),
        [null, noon + 1, null, null, null],
      )
      assert.ok(listed.every((token) => !('hash' in token)))
    })

    it('are revoked once, and still found, so that a caller can be told', async () => {
      const team = await on.newTeam()
      const token = on.newApiToken()
      await team.apiTokens.add(token, noon)
      assert.equal((await team.apiTokens.revoke(token.id, noon + 1, 'keep'))?.revokedAt, noon + 1)
      assert.equal(await team.apiTokens.revoke(token.id, noon + 2, 'keep'), undefined)
      assert.equal(await team.apiTokens.revoke(12_345, noon + 2, 'keep'), undefined)
      assert.equal((await on.service.store.findCaller(token.hash))?.revokedAt, noon + 1)
      assert.deepEqual(await team.trail(), [`api_token.created ${token.id}`, `api_token.revoked ${token.id}`])
    })

    it('of the scope admin are not revoked down to none, unless that is wished', async () => {
      const team = await on.newTeam()
      const admin = on.newApiToken({ scopes: ['admin'] })
      const others = [on.newApiToken({ scopes: ['admin'], expiresAt: noon }), on.newApiToken({ scopes: ['provision'] })]
      for (const token of [admin, ...others]) await team.apiTokens.add(token, noon)
      const before = [await team.apiTokens.all(), await team.trail()]
      await assert.rejects(team.apiTokens.revoke(admin.id, noon, 'keep'), { code: 'conflict' })
      assert.deepEqual([await team.apiTokens.all(), await team.trail()], before)
      const second = on.newApiToken({ scopes: ['admin'], expiresAt: noon + 1 })
      await team.apiTokens.add(second, noon)
      assert.equal((await team.apiTokens.revoke(admin.id, noon, 'keep'))?.id, admin.id)
      assert.equal((await team.apiTokens.revoke(second.id, noon, 'may_go'))?.id, second.id)
    })

    it('of the scope admin are not revoked down to none by two who revoke at once', async () => {
      for (let round = 0; round < 10; round++) {
        const team = await on.newTeam()
        const admins = times(2, () => on.newApiToken({ scopes: ['admin'] }))
        for (const token of admins) await team.apiTokens.add(token, noon)
        const answers = await Promise.allSettled(admins.map(({ id }) => team.apiTokens.revoke(id, noon, 'keep')))
        assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 1)
        assert.equal((await team.apiTokens.all()).filter(({ revokedAt }) => revokedAt === null).length, 1)
      }
    })

    it('remember when they were last used, each for itself', async () => {
      const { store } = on.service
      const team = await on.newTeam()
      const [token, other] = [on.newApiToken(), on.newApiToken()]
      for (const each of [token, other]) await team.apiTokens.add(each, noon)
      for (const at of [noon, noon + 61_000]) {
        await store.noteUse(token.id, at)
        assert.equal((await store.findCaller(token.hash))?.lastUsedAt, at)
      }
      for (const earlier of [token.id, 12_345]) await store.noteUse(earlier, noon + 5)
      assert.equal((await store.findCaller(token.hash))?.lastUsedAt, noon + 61_000)
      assert.equal((await store.findCaller(other.hash))?.lastUsedAt, null)
      assert.equal((await team.trail()).length, 2)
    })
  })
