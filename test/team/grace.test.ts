import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { running } from '../support/running.ts'
import { Team } from './team.ts'

const rotated = { success: 1, active: false, reason: 'rotated' }

for (const engine of engines)
  describe(`the grace of a rotated token on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)
    const team = new Team(caller)

    const expiryOf = async (token: string): Promise<string | null> => {
      const { body } = await team.verify(token)
      assert.equal(body.active, true, JSON.stringify(body))
      return body.expires_at
    }
    /** Rotates, and tells the new token and when the old one has to end: only the service knows it to the millisecond. */
    const rotateFor = async (token: string, seconds: number) => {
      const from = Date.now() + seconds * 1000
      const fresh = await team.rotated(token, seconds)
      return { fresh, ends: { from, to: Date.now() + seconds * 1000 } }
    }
    /** Asks until the token has ended: before its time every answer must be yes, behind it every answer no. */
    const assertEnds = async (token: string, { from, to }: { from: number; to: number }) => {
      await eventually('the grace is over', async () => {
        const asked = Date.now()
        const { body } = await team.verify(token)
        const answered = Date.now()
        if (answered < from) assert.equal(body.active, true, `it ended ${from - answered} ms early`)
        if (asked > to) assert.deepEqual(body, rotated, `it is still there ${asked - to} ms late`)
        const end = Date.parse(body.expires_at)
        if (body.active) assert.ok(end >= from && end <= to, `${body.expires_at} is when it ends`)
        return body.active === false
      })
      assert.deepEqual((await team.verify(token)).body, rotated)
    }

    it('is none unless it is asked for', async () => {
      const { token } = await team.newGroup(randomUUID())
      const second = await team.rotated(token)
      assert.deepEqual((await team.verify(token)).body, rotated)
      const third = await team.rotated(second, 0)
      assert.deepEqual((await team.verify(second)).body, rotated)
      assert.equal(await expiryOf(third), null)
    })

    it('lets the old token say the same as the new one, and when it ends', async () => {
      const mapping = { sales: 'nowhere' }
      const { token } = await team.newGroup(randomUUID(), { name: 'Acme', mapping, properties: { region: 'eu' } })
      const { fresh, ends } = await rotateFor(token, 3600)
      const [old, current] = [(await team.verify(token)).body, (await team.verify(fresh)).body]
      assert.equal(current.expires_at, null)
      assert.match(old.expires_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      const end = Date.parse(old.expires_at)
      assert.ok(end >= ends.from && end <= ends.to, `${old.expires_at} is an hour from now`)
      assert.deepEqual({ ...old, expires_at: null }, current)
      assert.deepEqual(current.unresolved, ['sales'])
    })

    it('may take a week', async () => {
      const { token } = await team.newGroup(randomUUID())
      const { ends } = await rotateFor(token, 604_800)
      const end = Date.parse(String(await expiryOf(token)))
      assert.ok(end >= ends.from && end <= ends.to)
    })

    it('ends on time', async () => {
      const { token } = await team.newGroup(randomUUID())
      const { fresh, ends } = await rotateFor(token, 1)
      await assertEnds(token, ends)
      assert.equal(await expiryOf(fresh), null)
    })

    it('of each token runs for itself: a later rotation neither shortens nor prolongs it', async () => {
      const { token: first } = await team.newGroup(randomUUID())
      const second = await rotateFor(first, 2)
      const third = await rotateFor(second.fresh, 1)
      const fourth = await rotateFor(third.fresh, 3600)
      await Promise.all([assertEnds(first, second.ends), assertEnds(second.fresh, third.ends)])
      assert.notEqual(await expiryOf(third.fresh), null)
      assert.equal(await expiryOf(fourth.fresh), null)
    })

    it('ends at once for every earlier token when one is rotated without', async () => {
      const { token: first } = await team.newGroup(randomUUID())
      const second = await team.rotated(first, 3600)
      const third = await team.rotated(second, 3600)
      for (const old of [first, second]) assert.notEqual(await expiryOf(old), null)
      const fourth = await team.rotated(third)
      for (const old of [first, second, third]) assert.deepEqual((await team.verify(old)).body, rotated)
      assert.equal(await expiryOf(fourth), null)
    })

    it('does not come back with a later rotation that has one', async () => {
      const { token: first } = await team.newGroup(randomUUID())
      const second = await team.rotated(first)
      await team.rotated(second, 3600)
      assert.deepEqual((await team.verify(first)).body, rotated)
      assert.notEqual(await expiryOf(second), null)
    })

    it('never lets the old token rotate, and a refused rotation leaves it as it is', async () => {
      const { token } = await team.newGroup(randomUUID())
      const fresh = await team.rotated(token, 3600)
      const ends = await expiryOf(token)
      for (const grace of [undefined, 0, 1, 604_800])
        assertError(await team.rotate(token, grace), 409, 'token_already_rotated')
      for (const grace of [-1, 604_801, 0.5])
        assertError(await team.rotate(fresh, grace), 400, 'invalid_request', 'grace_seconds')
      assert.equal(await expiryOf(token), ends)
      assert.equal(await expiryOf(fresh), null)
    })

    it('gives way to disabling, and goes on when the group is enabled', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      await team.rotated(token, 3600)
      const ends = await expiryOf(token)
      await team.change(id, { disabled: true })
      assert.deepEqual((await team.verify(token)).body, { success: 1, active: false, reason: 'disabled' })
      await team.change(id, { disabled: false })
      assert.equal(await expiryOf(token), ends)
    })

    it('goes on under a new id and with new properties', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      await team.rotated(token, 3600)
      await team.change(id, { provided_id: `${id}-2`, properties: { seen: true } })
      const { body } = await team.verify(token)
      assert.equal(body.user_group.provided_id, `${id}-2`)
      assert.deepEqual(body.properties, { seen: true })
      assert.notEqual(body.expires_at, null)
    })

    it('of one group says nothing about another', async () => {
      const [group, other] = [await team.newGroup(randomUUID()), await team.newGroup(randomUUID())]
      await team.rotated(group.token, 3600)
      await team.rotated(other.token)
      assert.notEqual(await expiryOf(group.token), null)
      assert.deepEqual((await team.verify(other.token)).body, rotated)
    })

    it('is granted by exactly one of 20 callers who rotate at once', async () => {
      const { token } = await team.newGroup(randomUUID())
      const graces = Array.from({ length: 20 }, (_, i) => (i + 1) * 1000)
      const answers = await Promise.all(graces.map((grace) => team.rotate(token, grace)))
      const winners = graces.filter((_, i) => answers[i]?.status === 200)
      assert.equal(winners.length, 1)
      const end = Date.parse(String(await expiryOf(token)))
      assert.ok(Math.abs(end - Date.now() - Number(winners[0]) * 1000) < 500_000, 'it is the one the winner asked for')
    })
  })
