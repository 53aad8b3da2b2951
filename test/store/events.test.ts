import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { EventQuery } from '../../src/store/store.ts'
import { engines } from '../support/engines.ts'
import { nobodysToken, noon, storeOn, type TestTeam } from '../support/store.ts'
import { times } from '../support/times.ts'

const day = 86_400_000

for (const engine of engines)
  describe(`the audit trail in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('tells who did what to which thing, and when, in order', async () => {
      const team = await on.newTeam('ci')
      const { token } = await team.make('acme', {}, noon)
      await team.rotate(token, 0, noon + 1)
      await team.userGroups.update('acme', { providedId: 'new' }, noon + 2)
      await on.service.store.forTeam(team.teamId, null).userGroups.delete('new', noon + 3)
      const ci = { by: { id: 1, name: 'ci' }, renamedTo: null, detail: null }
      assert.deepEqual((await team.events.list({ after: 0, limit: 100 })).items, [
        { ...ci, id: 1, at: noon, kind: 'user_group.created', subject: 'acme' },
        { ...ci, id: 2, at: noon + 1, kind: 'user_group.token_rotated', subject: 'acme' },
        {
          ...{ ...ci, id: 3, at: noon + 2, kind: 'user_group.updated', subject: 'acme', renamedTo: 'new' },
          detail: { fields: ['provided_id'] },
        },
        { ...ci, id: 4, at: noon + 3, kind: 'user_group.deleted', subject: 'new', by: null },
      ])
    })

    it('is read in pages from behind a position', async () => {
      const team = await on.newTeam()
      assert.equal(await team.events.newest(), 0)
      for (const id of ['a', 'b', 'c', 'd']) await team.make(id)
      const subjects = async (after: number, limit: number) =>
        (await team.events.list({ after, limit })).items.map(({ subject }) => subject)
      assert.deepEqual(await subjects(0, 3), ['a', 'b', 'c'])
      assert.deepEqual(await subjects(3, 3), ['d'])
      assert.deepEqual(await subjects(4, 3), [])
      assert.equal(await team.events.newest(), 4)
    })

    it('is searched a stretch of ten thousand at a time, from either end, and from the oldest that is kept', async () => {
      const team = await on.newTeam()
      await team.make('acme')
      await on.sql(
        `with recursive n (id) as (select 2 union all select id + 1 from n where id < 25000)
        insert into event (team_id, id, at, kind, subject)
        select ${team.teamId}, id, ${noon}, 'user_group.created', 'another' from n`,
      )
      await on.sql(`update event_position set last = 25000 where team_id = ${team.teamId}`)
      await team.userGroups.update('acme', { name: 'Acme' }, noon)
      const search = async (query: Omit<EventQuery, 'limit'>) => {
        const { items, next } = await team.events.list({ userGroup: 'acme', limit: 5, ...query })
        return { found: items.map(({ id }) => id), next }
      }
      assert.deepEqual(await search({}), { found: [1], next: 10_000 })
      assert.deepEqual(await search({ after: 10_000 }), { found: [], next: 20_000 })
      assert.deepEqual(await search({ after: 20_000 }), { found: [25_001], next: null })
      assert.deepEqual(await search({ order: 'desc' }), { found: [25_001], next: 15_002 })
      assert.deepEqual(await search({ order: 'desc', after: 15_002 }), { found: [], next: 5_002 })
      assert.deepEqual(await search({ order: 'desc', after: 5_002 }), { found: [1], next: null })
      await on.sql(`delete from event where team_id = ${team.teamId} and id < 24000`)
      assert.deepEqual(await search({}), { found: [25_001], next: null })
      assert.deepEqual(await search({ order: 'desc' }), { found: [25_001], next: null })
      await on.sql(`delete from event where team_id = ${team.teamId}`)
      assert.deepEqual(await search({}), { found: [], next: null })
    })

    it('is numbered from 1 without a gap in each team, whatever happens at once and whatever fails', async () => {
      const [team, other] = [await on.newTeam(), await on.newTeam()]
      const { token } = await team.make('acme')
      const works = times(40, (index) => {
        if (index % 4 === 0) return team.make(`group ${index}`)
        if (index % 4 === 1) return team.rotate(nobodysToken(on.service))
        if (index % 4 === 2) return team.rotate(token)
        return other.make(`group ${index}`)
      })
      const done = (await Promise.allSettled(works)).filter(({ status }) => status === 'fulfilled').length
      assert.equal(done, 10 + 1 + 10)
      for (const [{ events }, count] of [
        [team, 12],
        [other, 10],
      ] as const)
        assert.deepEqual(
          (await events.list({ after: 0, limit: 100 })).items.map(({ id }) => id),
          times(count, (index) => index + 1),
        )
    })

    it('shows a reader who remembers the last number every event, while others write', async () => {
      const team = await on.newTeam()
      let writing = true
      const writes = Promise.all(times(60, (index) => team.make(`group ${index}`))).finally(() => {
        writing = false
      })
      const seen: number[] = []
      for (let last = false; !last; ) {
        last = !writing
        await new Promise(setImmediate)
        for (const { id } of (await team.events.list({ after: seen.at(-1) ?? 0, limit: 7 })).items) seen.push(id)
      }
      await writes
      for (const { id } of (await team.events.list({ after: seen.at(-1) ?? 0, limit: 100 })).items) seen.push(id)
      assert.deepEqual(
        seen,
        times(60, (index) => index + 1),
      )
    })

    it('holds no token', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      const fresh = await team.rotate(token)
      const secret = on.service.tokens.mintForApi()
      await team.apiTokens.add(on.newApiToken({ hash: on.service.tokens.hash(secret) }), noon)
      const trail = JSON.stringify(await on.sql('select * from event'))
      for (const each of [token, fresh, secret]) assert.equal(trail.includes(each), false)
    })
  })

for (const engine of engines)
  describe(`forgetting history in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('takes what is older, a batch at a time, and goes on counting where it was', async () => {
      const { store } = on.service
      const team = await on.newTeam()
      for (const index of times(10, (index) => index)) await team.make(`group ${index}`, {}, noon + index * day)
      const before = noon + 7 * day
      const forgotten: number[] = []
      for (;;) {
        const batch = await store.pruneHistory(before, 3)
        if (batch === 0) break
        forgotten.push(batch)
      }
      assert.deepEqual(forgotten, [3, 3, 1])
      await team.make('one more', {}, noon + 10 * day)
      const left = (await team.events.list({ after: 0, limit: 100 })).items
      assert.deepEqual(
        left.map(({ id }) => id),
        [8, 9, 10, 11],
      )
      assert.ok(left.every(({ at }) => at >= before))
      assert.equal((await team.userGroups.list({ after: 0, limit: 100 })).items.length, 11)
    })

    it('leaves the newer events of a team that have the numbers of older ones of another', async () => {
      const [one, old, another] = [await on.newTeam(), await on.newTeam(), await on.newTeam()]
      for (const id of ['a', 'b', 'c']) await old.make(id, {}, noon)
      for (const team of [one, another]) {
        await team.make('a', {}, noon)
        for (const id of ['b', 'c']) await team.make(id, {}, noon + 2 * day)
      }
      while ((await on.service.store.pruneHistory(noon + day, 100)) > 0);
      const left = async (team: TestTeam) =>
        (await team.events.list({ after: 0, limit: 100 })).items.map(({ subject }) => subject)
      assert.deepEqual(await Promise.all([one, old, another].map(left)), [['b', 'c'], [], ['b', 'c']])
    })

    it('goes on as long as there is more of either: as many tokens as events are not nothing', async () => {
      const team = await on.newTeam()
      const longAgo = noon - 10 * day
      for (const id of ['a', 'b', 'c']) await team.rotate((await team.make(id, {}, longAgo)).token, 0, longAgo)
      const prune = () => on.service.store.pruneHistory(longAgo + day, 3)
      assert.deepEqual([await prune(), await prune(), await prune()], [3 + 3, 3, 0])
      assert.deepEqual(await team.trail(), [])
    })

    it('takes tokens whose time is long over, and leaves those in use or in their grace', async () => {
      const { store } = on.service
      const team = await on.newTeam()
      const brought = 'a-token-from-another-system'
      const { id } = team.wish('acme')
      await team.make('acme', { id, token: on.service.tokens.sealToken(brought, team.teamId, id) }, noon)
      const old = await team.rotate(brought, 0, noon)
      const graced = await team.rotate(old, 0, noon)
      const current = await team.rotate(graced, 604_800, noon + day)
      while ((await store.pruneHistory(noon + 2 * day, 100)) > 0);
      assert.equal(await team.verify(brought), undefined)
      await assert.rejects(team.rotate(brought), { code: 'token_not_found' })
      // Where it leads tells that it was theirs.
      assert.equal((await team.verify(old))?.validUntil, 0)
      await assert.rejects(team.rotate(old), { code: 'token_already_rotated' })
      const [former] = await on.sql(`select count(*) as count from former_token where user_group_id = ${id}`)
      assert.equal(Number(former?.count), 1)
      assert.equal((await team.verify(graced))?.validUntil, noon + 8 * day)
      await assert.rejects(team.rotate(graced), { code: 'token_already_rotated' })
      assert.equal((await team.verify(current))?.validUntil, null)
    })
  })
