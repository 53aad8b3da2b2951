import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError, assertFound, assertRefused } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { times } from '../support/times.ts'
import { anotherTeam, Team } from './team.ts'

const awkwardIds = [
  ...['a/b', '/', 'a//b', '../acme', '..', '.', '.hidden', 'a\\b', '100%', '%', '%2F', '%41', 'a%20b', '%zz'],
  ...['a b', ' ', ' a ', 'a+b', 'a?b', '?', 'a#b', 'a&b=c', 'a;b', 'a:b', ':id', '*', '{id}', '~', '!', "'", '"'],
  ...[
    'ü',
    'u\u0308',
    '中文',
    '\u200b',
    '\ufeff',
    '\u00a0',
    '\u{10ffff}',
    '__proto__',
    'constructor',
    'null',
    '0',
    '-1',
  ],
  ...['😀'.repeat(255), 'x'.repeat(255), '%'.repeat(255), 'acme', 'ACME', 'Acme'],
]

for (const engine of engines)
  describe(`changing a user group on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)

    const full = { name: 'Acme', mapping: { sales: 'acme-db' }, properties: { region: 'eu' } }
    const record = async (id: string) => {
      const { status, body } = await team.group(id)
      assert.equal(status, 200, JSON.stringify(body))
      return body.user_group
    }
    const tokenOf = async (id: string): Promise<string> => (await team.getOrCreate(id)).body.user_group.token

    it('changes what is sent and leaves the rest', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id, full)
      let expected = await record(id)
      assert.equal(expected.token_rotated_at, null)
      const patches = [
        { name: 'Acme Inc.' },
        { mapping: { other: 'db', 'Ü/': 'ds_x' } },
        { properties: { tier: ['gold', { a: null }] } },
        { disabled: true },
        { mapping: {} },
        { properties: {} },
        { disabled: false, name: 'Both' },
      ]
      for (const patch of patches) {
        const { status, body } = await team.change(id, patch)
        assert.equal(status, 200, JSON.stringify(body))
        assert.deepEqual(Object.keys(body).sort(), ['success', 'user_group'])
        assert.ok(body.user_group.updated_at >= expected.updated_at)
        expected = { ...expected, ...patch, updated_at: body.user_group.updated_at }
        assert.deepEqual(body.user_group, expected)
        assert.deepEqual(await record(id), expected)
      }
      assert.equal(await tokenOf(id), token)
    })

    it('replaces mapping and properties as a whole, so that an entry can be taken out', async () => {
      const id = randomUUID()
      await team.newGroup(id, { mapping: { a: '1', b: '2' }, properties: { a: 1, b: 2 } })
      await team.change(id, { mapping: { b: '3' }, properties: { c: 3 } })
      const { mapping, properties } = await record(id)
      assert.deepEqual({ mapping, properties }, { mapping: { b: '3' }, properties: { c: 3 } })
    })

    it('refuses null, an empty patch and one with nothing it knows, and changes nothing', async () => {
      const id = randomUUID()
      await team.newGroup(id, full)
      const before = await record(id)
      for (const field of ['name', 'mapping', 'properties', 'disabled', 'provided_id']) {
        assertRefused(await team.change(id, { [field]: null }), field, null)
        assertRefused(await team.change(id, { name: 'Other', disabled: true, [field]: null }), field, null)
      }
      for (const patch of [{}, { filename: 'a.mp4' }, { token: 'x', team_id: 7, created_at: 'now' }])
        assertError(await team.change(id, patch), 400, 'invalid_request')
      assert.deepEqual(await record(id), before)
    })

    it('ignores fields that are not for changing', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id, full)
      const before = await record(id)
      const more = {
        token: 'x',
        team_id: 7,
        created_at: '2020-01-01T00:00:00.000Z',
        token_rotated_at: null,
        user_group_id: 'y',
      }
      const { body } = await team.change(id, { name: 'New', ...more })
      assert.deepEqual(body.user_group, { ...before, name: 'New', updated_at: body.user_group.updated_at })
      assert.equal(await tokenOf(id), token)
    })

    it('gives a group a new id under which it keeps its token, and frees the old id', async () => {
      const [id, renamed] = [randomUUID(), randomUUID()]
      const { token } = await team.newGroup(id, full)
      const before = await record(id)
      const { body } = await team.change(id, { provided_id: renamed })
      assert.deepEqual(body.user_group, { ...before, provided_id: renamed, updated_at: body.user_group.updated_at })
      assertError(await team.group(id), 404, 'user_group_not_found')
      const found = await team.getOrCreate(renamed)
      assertFound(found, false)
      assert.deepEqual(found.body.user_group, { team_id: before.team_id, token, name: 'Acme', provided_id: renamed })
      assert.equal((await team.verify(token)).body.user_group.provided_id, renamed)
      const again = await team.getOrCreate(id)
      assertFound(again, true)
      assert.notEqual(again.body.user_group.token, token)
    })

    it('refuses the id of another group, and then changes nothing of either', async () => {
      const [id, taken] = [randomUUID(), randomUUID()]
      await team.newGroup(id, full)
      await team.newGroup(taken)
      const before = [await record(id), await record(taken)]
      const refused = await team.change(id, { name: 'Other', provided_id: taken })
      assert.equal(refused.status, 409)
      assert.equal(refused.body.error.code, 'conflict')
      assert.deepEqual([await record(id), await record(taken)], before)
      assert.equal((await team.change(id, { provided_id: id, name: 'Same' })).body.user_group.name, 'Same')
    })

    it("lets a group have the id that another team's group has", async () => {
      const [id, theirs] = [randomUUID(), randomUUID()]
      await team.newGroup(id)
      const { token } = await others.newGroup(theirs)
      assert.equal((await team.change(id, { provided_id: theirs })).status, 200)
      assert.equal((await others.getOrCreate(theirs)).body.user_group.token, token)
    })

    it('lets exactly one of 10 groups have an id they all want at once', async () => {
      const wanted = randomUUID()
      const ids = times(10, (i) => `${wanted} ${i}`)
      const tokens = await Promise.all(ids.map(async (id) => (await team.newGroup(id)).token))
      const answers = await Promise.all(ids.map((id) => team.change(id, { provided_id: wanted })))
      const winner = answers.findIndex(({ status }) => status === 200)
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...times(9, () => 409)])
      assert.equal(await tokenOf(wanted), tokens[winner])
      for (const [i, id] of ids.entries()) if (i !== winner) assert.equal(await tokenOf(id), tokens[i])
    })

    it('loses no change of 20 that are made to one group at once', async () => {
      const id = randomUUID()
      await team.newGroup(id, full)
      const patches = times(20, (i) => (i % 2 === 0 ? { name: `Name ${i}` } : { properties: { i } }))
      const answers = await Promise.all(patches.map((patch) => team.change(id, patch)))
      assert.ok(answers.every(({ status }) => status === 200))
      const { name, properties, mapping } = await record(id)
      assert.match(name, /^Name \d+$/)
      assert.equal(properties.i % 2, 1)
      assert.deepEqual(mapping, full.mapping)
    })

    it('disables: the group is found and rotated, but does not verify', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id, full)
      assert.equal((await team.change(id, { disabled: true })).body.user_group.disabled, true)
      const found = await team.getOrCreate(id)
      assertFound(found, false)
      assert.equal(found.body.user_group.token, token)
      const fresh = await team.rotated(token)
      assert.deepEqual((await team.verify(fresh)).body, { success: 1, active: false, reason: 'disabled' })
      const { disabled, token_rotated_at } = await record(id)
      assert.equal(disabled, true)
      assert.ok(Date.parse(token_rotated_at) <= Date.now())
    })

    it('deletes: nothing is left of the group or its tokens, and its id is free', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id, full)
      const deleted = await team.remove(id)
      assert.deepEqual([deleted.status, deleted.body], [200, { success: 1 }])
      for (const gone of [await team.group(id), await team.change(id, { name: 'x' }), await team.remove(id)])
        assertError(gone, 404, 'user_group_not_found')
      assertError(await team.rotate(token), 404, 'token_not_found')
      const again = await team.newGroup(id)
      assert.notEqual(again.token, token)
      assert.deepEqual((await record(id)).properties, {})
    })

    it('is deleted by exactly one of 10 callers who do so at once', async () => {
      const id = randomUUID()
      await team.newGroup(id)
      const answers = await Promise.all(times(10, () => team.remove(id)))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...times(9, () => 404)])
    })

    it('reaches groups under awkward ids, each its own', async () => {
      const tokens = new Map<string, string>()
      for (const id of awkwardIds) tokens.set(id, (await team.newGroup(id)).token)
      for (const id of awkwardIds) {
        assert.equal((await record(id)).provided_id, id)
        const { status, body } = await team.change(id, { name: 'Reached', properties: { id } })
        assert.equal(status, 200, id)
        assert.deepEqual([body.user_group.provided_id, body.user_group.properties], [id, { id }])
      }
      for (const [id, token] of tokens) assert.deepEqual((await team.verify(token)).body.properties, { id })
      for (const id of awkwardIds) {
        assert.equal((await team.remove(id)).status, 200, id)
        assertError(await team.group(id), 404, 'user_group_not_found')
      }
    })

    it("does not reach another team's groups: the answer is that of an id nobody has", async () => {
      const id = randomUUID()
      const { token } = await others.newGroup(id, full)
      for (const unknown of [id, randomUUID()]) {
        assertError(await team.group(unknown), 404, 'user_group_not_found')
        assertError(await team.change(unknown, { name: 'x' }), 404, 'user_group_not_found')
        assertError(await team.remove(unknown), 404, 'user_group_not_found')
      }
      assert.equal((await others.verify(token)).body.user_group.name, 'Acme')
    })
  })
