import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { assertError, assertRefused } from '../contract/expectations.ts'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { anotherTeam, at, Team } from './team.ts'

for (const engine of engines)
  describe(`a team's settings and strict mapping on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)
    await team.makeSchema({ id: 'sales' })
    const source = (await team.makeDataSource({ schema_id: 'sales', provided_id: 'acme-db' })).body.data_source

    const settings = async (of = team) => (await of.send('GET', '/api/team')).body
    const set = (patch: object, of = team) => of.send('PATCH', '/api/team', patch)
    const assertUnknown = (answer: Answer, field: string) => {
      assertError(answer, 400, 'unknown_data_source', field)
    }
    beforeEach(async () => {
      assert.equal((await set({ strict_mapping: true, name: 'Ours' })).status, 200)
    })

    it('are the id, the name and whether mappings are strict, which they are not from the start', async () => {
      const theirs = await settings(others)
      assert.deepEqual(theirs, { success: 1, team: { id: theirs.team.id, name: 'A team', strict_mapping: false } })
      const { team_id } = await others.newGroup(randomUUID())
      assert.equal(theirs.team.id, team_id)
    })

    it('change by what is sent', async () => {
      const { team: before } = await settings()
      assert.deepEqual((await set({ name: 'Ü 😀' })).body, { success: 1, team: { ...before, name: 'Ü 😀' } })
      const both = { name: 'Both', strict_mapping: false }
      assert.deepEqual((await set(both)).body.team, { id: before.id, ...both })
      assert.deepEqual((await set({ strict_mapping: true })).body.team, {
        ...before,
        name: 'Both',
        strict_mapping: true,
      })
      assert.deepEqual((await settings()).team, { ...before, name: 'Both', strict_mapping: true })
    })

    it('refuse what is none of them, null and nothing at all, and stay as they are', async () => {
      const before = await settings()
      for (const patch of [{}, { id: 7 }, { created_at: 'x' }]) assertError(await set(patch), 400, 'invalid_request')
      for (const value of [null, 'true', 1, [], {}])
        assertRefused(await set({ name: 'Other', strict_mapping: value }), 'strict_mapping', value)
      for (const value of [null, '', 'x'.repeat(256), 7, 'a\u0000'])
        assertRefused(await set({ strict_mapping: false, name: value }), 'name', value)
      assert.deepEqual(await settings(), before)
    })

    it('refuse a mapping to what is not there, name the entry, and create nothing', async () => {
      const id = randomUUID()
      for (const method of ['GET', 'POST']) {
        const path = method === 'GET' ? '/api/user' : '/api/user_groups'
        const create = (mapping: object) => team.send(method, path, { user_group_id: id, mapping })
        assertUnknown(await create({ sales: 'nowhere' }), 'mapping.sales')
        assertUnknown(await create({ good: 'acme-db', 'a b': source.id, bad: 'Acme-db' }), 'mapping.bad')
        assertUnknown(await create({ good: source.id, sales: 'acme-db ' }), 'mapping.sales')
        assertUnknown(await create({ sales: source.id.toUpperCase() }), 'mapping.sales')
        assertUnknown(await create(JSON.parse('{"__proto__":"nowhere"}')), 'mapping.__proto__')
      }
      assertError(await team.group(id), 404, 'user_group_not_found')
    })

    it('take a mapping to what is there, by either id, and an empty one', async () => {
      const { token } = await team.newGroup(randomUUID(), { mapping: { sales: 'acme-db', b: source.id } })
      assert.deepEqual(Object.keys((await team.verify(token)).body.data_sources).sort(), ['b', 'sales'])
      await team.newGroup(randomUUID(), { mapping: {} })
      await team.newGroup(randomUUID())
    })

    it('refuse a change to such a mapping, and then change nothing', async () => {
      const id = randomUUID()
      await team.newGroup(id, { mapping: { sales: 'acme-db' } })
      const before = (await team.group(id)).body
      assertUnknown(await team.change(id, { name: 'Other', mapping: { sales: 'acme-db', x: 'nowhere' } }), 'mapping.x')
      assert.deepEqual((await team.group(id)).body, before)
      assert.equal((await team.change(id, { mapping: { x: source.id } })).status, 200)
    })

    it("do not take another team's data source for one that is there", async () => {
      await others.makeSchema({ id: 'sales' })
      const { body } = await others.makeDataSource({ schema_id: 'sales', provided_id: 'their-db' })
      for (const value of ['their-db', body.data_source.id])
        assertUnknown(await team.getOrCreate(randomUUID(), { mapping: { sales: value } }), 'mapping.sales')
    })

    it('leave the mappings alone that were there before, and the other fields of their groups', async () => {
      await set({ strict_mapping: false })
      const id = randomUUID()
      const { token } = await team.newGroup(id, { mapping: { sales: 'nowhere' } })
      await set({ strict_mapping: true })
      assert.deepEqual((await team.verify(token)).body.unresolved, ['sales'])
      assert.equal((await team.getOrCreate(id)).body.user_group.token, token)
      assert.equal((await team.change(id, { name: 'New', disabled: true })).status, 200)
      assert.equal((await team.change(id, { provided_id: `${id}-2` })).status, 200)
      assert.equal((await team.rotate(token)).status, 200)
      assert.deepEqual((await team.group(`${id}-2`)).body.user_group.mapping, { sales: 'nowhere' })
    })

    it('of one team say nothing about another', async () => {
      await others.newGroup(randomUUID(), { mapping: { sales: 'nowhere' } })
      assert.equal((await settings(others)).team.strict_mapping, false)
    })

    it('never leave a new mapping to a data source that is deleted at the same moment', async () => {
      for (let round = 0; round < 25; round++) {
        const passing = (await team.makeDataSource({ schema_id: 'sales', provided_id: randomUUID() })).body.data_source
        const value = round % 2 === 0 ? passing.id : passing.provided_id
        const [id, changing] = [randomUUID(), randomUUID()]
        await team.newGroup(changing)
        const [made, changed, deleted] = await Promise.all([
          team.getOrCreate(id, { mapping: { sales: value } }),
          team.change(changing, { mapping: { sales: value } }),
          team.send('DELETE', at('data_sources', passing.id)),
        ])
        assert.ok([200, 409].includes(deleted.status))
        for (const answer of [made, changed])
          if (deleted.status === 200) assertUnknown(answer, 'mapping.sales')
          else assert.ok(answer.status === 200 || answer.body.error.code === 'unknown_data_source')
        if (deleted.status === 409) assert.ok([made, changed].some(({ status }) => status === 200))
      }
    })
  })
