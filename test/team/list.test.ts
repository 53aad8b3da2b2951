import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { times } from '../support/times.ts'
import { anotherTeam, Team } from './team.ts'

for (const engine of engines)
  describe(`the list of user groups on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)

    /** Groups whose ids begin with a word of their own, made one after the other. */
    const newGroups = async (count: number): Promise<string[]> => {
      const word = randomUUID()
      const ids = times(count, (i) => `${word} ${i}`)
      for (const id of ids) await team.newGroup(id)
      return ids
    }
    const wordOf = ([id = '']: string[]) => id.slice(0, 36)

    it('is empty, without a next page, for a team without groups', async () => {
      assert.deepEqual((await others.page()).body, { success: 1, user_groups: [], next_cursor: null })
    })

    it('shows every field of a group as one by itself shows it, and never a token', async () => {
      const id = randomUUID()
      const { token, team_id } = await team.newGroup(id, {
        name: 'Acme',
        mapping: { sales: 'db' },
        properties: { a: [1] },
      })
      const fresh = await team.rotated(token)
      const { body } = await team.page({ q: id })
      const [listed] = body.user_groups
      const { created_at, updated_at, token_rotated_at, ...rest } = listed
      assert.deepEqual(rest, {
        team_id,
        name: 'Acme',
        provided_id: id,
        mapping: { sales: 'db' },
        properties: { a: [1] },
        disabled: false,
      })
      for (const time of [created_at, updated_at, token_rotated_at]) {
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time)
      }
      assert.deepEqual((await team.group(id)).body.user_group, listed)
      for (const secret of [token, fresh, 'ugt_']) assert.ok(!JSON.stringify(body).includes(secret))
    })

    it('ends a page early where its groups are large, and goes on with the next', async () => {
      const word = randomUUID()
      const ids = times(10, (i) => `${word} ${i}`)
      for (const id of ids) await team.newGroup(id, { properties: { note: 'x'.repeat(15_000) } })
      assert.deepEqual(await team.pages({ q: word }), [ids.slice(0, 4), ids.slice(4, 8), ids.slice(8)])
      assert.deepEqual(await team.pages({ q: word, limit: '3' }), [
        ids.slice(0, 3),
        ids.slice(3, 6),
        ids.slice(6, 9),
        ids.slice(9),
      ])
      for (const id of ids) await team.send('DELETE', `/api/user_groups/${encodeURIComponent(id)}`)
    })

    it('has the newest last', async () => {
      const ids = await newGroups(12)
      assert.deepEqual((await team.pages()).flat().slice(-12), ids)
      assert.deepEqual(await team.pages({ q: wordOf(ids) }), [ids])
    })

    it('keeps the place of a group that is changed, renamed, rotated or looked up', async () => {
      const ids = await newGroups(4)
      const word = wordOf(ids)
      await team.change(`${word} 0`, { name: 'Changed' })
      await team.change(`${word} 1`, { provided_id: `${word} renamed` })
      await team.getOrCreate(`${word} 0`)
      await team.rotate((await team.getOrCreate(`${word} 2`)).body.user_group.token)
      assert.deepEqual(await team.pages({ q: word }), [[`${word} 0`, `${word} renamed`, `${word} 2`, `${word} 3`]])
    })

    it('comes in pages as long as asked for, the last one without a cursor', async () => {
      const ids = await newGroups(6)
      const q = wordOf(ids)
      for (const limit of [1, 2, 3, 4, 5, 6, 7, 200]) {
        const expected = times(Math.ceil(6 / limit), (page) => ids.slice(page * limit, (page + 1) * limit))
        assert.deepEqual(await team.pages({ q, limit }), expected, `limit ${limit}`)
      }
    })

    it('gives at most 200 a page, also when nobody says how many', async () => {
      const word = randomUUID()
      await Promise.all(times(201, (i) => team.newGroup(`${word} ${i}`)))
      for (const query of [{ q: word, limit: 200 }, { limit: 200 }]) {
        const { body } = await team.page(query)
        assert.equal(body.user_groups.length, 200)
        assert.equal(typeof body.next_cursor, 'string')
      }
      const pages = await team.pages({ q: word })
      assert.equal(pages.flat().length, 201)
      assert.ok(pages.every((page) => page.length <= 200))
    })

    it('refuses other limits and a cursor that is none', async () => {
      for (const limit of ['0', '-1', '201', '1.5', '1e1', '0x10', ' 1', '', 'all', '9'.repeat(30)])
        assertError(await team.page({ limit }), 400, 'invalid_request', 'limit')
      const { next_cursor } = (await team.page({ limit: 1 })).body
      const cursors = ['', 'x', '0', '-1', `${next_cursor}x`, ` ${next_cursor}`, 'ü', "' or 1=1", 'A'.repeat(5_000)]
      for (const cursor of cursors) assertError(await team.page({ cursor }), 400, 'invalid_request', 'cursor')
    })

    it('goes on behind a group that was deleted after its page was read', async () => {
      const ids = await newGroups(9)
      const pages = await team.pages({ q: wordOf(ids), limit: 3 }, (page) =>
        Promise.all(page.map((id) => team.remove(id))),
      )
      assert.deepEqual(pages, [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
    })

    it('shows what is there throughout exactly once, and nothing twice, while others create and delete', async () => {
      const ids: string[] = []
      // Made between groups that will go, so that the pages have to close up around them.
      const passing: string[] = []
      for (let i = 0; i < 60; i++) {
        ids.push(`stays ${i}`)
        passing.push(`goes ${i}`)
        await team.newGroup(`stays ${i}`)
        await team.newGroup(`goes ${i}`)
      }
      let walking = true
      const churn = async (lane: number) => {
        for (let i = 0; walking; i++) {
          await team.newGroup(`comes ${lane} ${i}`)
          await team.remove(passing.pop() ?? `comes ${lane} ${i}`)
        }
      }
      const walk = async (limit: number) => {
        for (let round = 0; round < 3; round++) {
          const seen = (await team.pages({ limit })).flat()
          assert.equal(new Set(seen).size, seen.length, 'nothing is repeated')
          assert.deepEqual(
            seen.filter((id) => id.startsWith('stays ')),
            ids,
          )
        }
      }
      const churning = times(4, churn)
      await Promise.all([7, 13, 50].map(walk)).finally(() => {
        walking = false
      })
      await Promise.all(churning)
    })

    it("is only the team's own, whatever the cursor", async () => {
      const theirs = await others.newGroup(randomUUID())
      const { next_cursor } = (await team.page({ limit: 1 })).body
      for (const query of [{}, { cursor: next_cursor }]) {
        const { body } = await others.page(query)
        assert.ok(body.user_groups.every((group: { team_id: number }) => group.team_id === theirs.team_id))
      }
    })
  })
