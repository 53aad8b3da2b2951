import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { noon, storeOn, type TestTeam } from '../support/store.ts'

/** Walks all pages, and fails on one that is too long or empty without need. */
async function walk(team: TestTeam, limit: number, prefix?: string): Promise<string[]> {
  const seen: string[] = []
  for (let after: number | null = 0; after !== null; ) {
    const query = prefix === undefined ? { after, limit } : { after, limit, prefix }
    const { items, next } = await team.userGroups.list(query)
    assert.ok(items.length <= limit && (next === null || items.length === limit), `${items.length} of ${limit}`)
    seen.push(...items.map(({ providedId }) => providedId))
    after = next
  }
  return seen
}

for (const engine of engines)
  describe(`changing a user group in ${engine.name}`, () => {
    const on = storeOn(engine)

    for (const [change, shown] of [
      [{ name: 'New name' }, { name: 'New name' }],
      [{ mapping: { a: 'b' } }, { mapping: { a: 'b' } }],
      [{ mapping: {} }, { mapping: {} }],
      [{ properties: '{"x":{"__proto__":[1]}}' }, { properties: JSON.parse('{"x":{"__proto__":[1]}}') }],
      [{ disabled: true }, { disabled: true }],
      [{ providedId: 'renamed' }, { providedId: 'renamed' }],
      [{}, {}],
    ] as const)
      it(`changes what is sent and nothing else: ${JSON.stringify(change)}`, async () => {
        const team = await on.newTeam()
        const { group } = await team.make('acme', { mapping: { old: 'value' }, properties: '{"old":1}' })
        const before = await team.userGroups.get('acme')
        const updated = await team.userGroups.update('acme', change, noon + 7)
        assert.deepEqual(updated, { ...before, ...shown, updatedAt: noon + 7 })
        const id = change.providedId ?? 'acme'
        assert.deepEqual(await team.userGroups.get(id), updated)
        assert.deepEqual((await team.userGroups.find(id))?.token, group.token)
        assert.deepEqual(await team.trail(), ['user_group.created acme', 'user_group.updated acme'])
      })

    it('finds a renamed group under its new id only, with the token it had', async () => {
      const team = await on.newTeam()
      const { token, group } = await team.make('old')
      await team.userGroups.update('old', { providedId: 'new' }, noon)
      assert.equal(await team.userGroups.find('old'), undefined)
      assert.equal((await team.userGroups.find('new'))?.id, group.id)
      assert.equal((await team.verify(token))?.group.providedId, 'new')
      assert.equal((await team.events.list({ after: 1, limit: 1 })).items[0]?.renamedTo, 'new')
      assert.equal((await team.make('old')).created, true)
    })

    it('refuses an id that another group has, and changes nothing', async () => {
      const team = await on.newTeam()
      await team.make('acme')
      await team.make('taken')
      const before = [await team.userGroups.get('acme'), await team.userGroups.get('taken'), await team.trail()]
      const rename = team.userGroups.update('acme', { providedId: 'taken', name: 'New' }, noon + 1)
      await assert.rejects(rename, { code: 'conflict' })
      const now = [await team.userGroups.get('acme'), await team.userGroups.get('taken'), await team.trail()]
      assert.deepEqual(now, before)
    })

    it('refuses a strict team a mapping that leads nowhere, and changes nothing', async () => {
      const team = await on.newTeam()
      await team.make('acme', { mapping: { a: 'anything goes before' } })
      await team.settings.update({ strictMapping: true }, noon)
      const before = [await team.userGroups.get('acme'), await team.trail()]
      const change = team.userGroups.update('acme', { mapping: { sales: 'nowhere' }, name: 'New' }, noon + 1)
      await assert.rejects(change, { code: 'unknown_data_source', field: 'mapping.sales' })
      assert.deepEqual([await team.userGroups.get('acme'), await team.trail()], before)
    })

    it('says so when there is no such group, and makes none', async () => {
      const team = await on.newTeam()
      assert.equal(await team.userGroups.update('acme', { name: 'x', providedId: 'y' }, noon), undefined)
      assert.equal(await team.userGroups.delete('acme', noon), false)
      assert.deepEqual(await team.trail(), [])
      assert.deepEqual(await walk(team, 10), [])
    })

    it('deletes a group with all its tokens and its mapping', async () => {
      const team = await on.newTeam()
      const { token, group } = await team.make('acme', { mapping: { sales: 'x' } })
      const second = await team.rotate(token)
      const third = await team.rotate(second, 3_600)
      const current = await team.rotate(third, 3_600)
      assert.equal(await team.userGroups.delete('acme', noon), true)
      assert.equal(await team.userGroups.delete('acme', noon), false)
      for (const gone of [token, second, third, current]) {
        assert.equal(await team.verify(gone), undefined)
        await assert.rejects(team.rotate(gone), { code: 'token_not_found' })
      }
      const tables = ['former_token', 'mapping_entry', ...(engine.name === 'SQLite' ? ['token'] : [])]
      for (const table of tables)
        assert.deepEqual(await on.sql(`select * from ${table} where user_group_id = ${group.id}`), [])
      assert.equal((await team.trail()).at(-1), 'user_group.deleted acme')
      const again = await team.make('acme')
      assert.deepEqual([again.created, again.token === current], [true, false])
    })
  })

for (const engine of engines)
  describe(`listing user groups in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('shows each group once, in the order they were made, whatever the size of a page', async () => {
      const team = await on.newTeam()
      const ids = ['b', 'a', 'Z', 'é', '10', '9', 'c']
      for (const id of ids) await team.make(id)
      for (const limit of [1, 2, 3, 6, 7, 8, 200]) assert.deepEqual(await walk(team, limit), ids, `pages of ${limit}`)
      const { items } = await team.userGroups.list({ after: 0, limit: 1 })
      assert.deepEqual(items[0], await team.userGroups.get('b'))
    })

    it('neither skips nor repeats a group when others are made and deleted between pages', async () => {
      const team = await on.newTeam()
      for (const id of ['a', 'b', 'c', 'd']) await team.make(id)
      const first = await team.userGroups.list({ after: 0, limit: 2 })
      await team.userGroups.delete('a', noon)
      await team.userGroups.delete('b', noon)
      await team.make('e')
      const second = await team.userGroups.list({ after: first.next ?? assert.fail(), limit: 10 })
      assert.deepEqual(
        second.items.map(({ providedId }) => providedId),
        ['c', 'd', 'e'],
      )
      assert.equal(second.next, null)
    })

    it('finds by the beginning of id or name, in any ASCII case, and each group once', async () => {
      const team = await on.newTeam()
      await team.make('acme-1', { name: 'Zebra' })
      await team.make('2', { name: 'Acme two' })
      await team.make('ACME-3', { name: 'acme three' })
      await team.make('xacme', { name: 'not acme' })
      await team.make('50%_off', { name: 'Élan' })
      for (const [prefix, ids] of [
        ['acme', ['acme-1', '2', 'ACME-3']],
        ['aCmE-', ['acme-1', 'ACME-3']],
        ['zebra', ['acme-1']],
        ['50%_', ['50%_off']],
        ['50__', []],
        ['%', []],
        ['Élan', ['50%_off']],
        ['élan', []],
        ['', ['acme-1', '2', 'ACME-3', 'xacme', '50%_off']],
      ] as const)
        for (const limit of [1, 10]) assert.deepEqual(await walk(team, limit, prefix), ids, `${prefix} by ${limit}`)
    })

    it('finds a group by every beginning of its id, whatever characters it has', async () => {
      const team = await on.newTeam()
      for (const id of ['z~', '\u007e\ud7ff', '\ud7ff\ue000', '\uffff😀', '\u{10fffe}x', 'x\u{10ffff}', '\u{10ffff}']) {
        await team.make(id, { name: '0' })
        for (let end = 1; end <= [...id].length; end++) {
          const prefix = [...id].slice(0, end).join('')
          assert.ok((await walk(team, 50, prefix)).includes(id), JSON.stringify({ id, prefix }))
        }
      }
    })
  })
