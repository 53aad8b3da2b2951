import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withChecksum } from '../../src/tokens/format.ts'
import { Leads } from '../../src/tokens/leads.ts'
import { engines } from '../support/engines.ts'
import { nobodysToken, noon, storeOn, type TestTeam } from '../support/store.ts'
import { times } from '../support/times.ts'

async function addSource(team: TestTeam, id: string, providedId: string | null) {
  return team.dataSources.add({ id, providedId, schemaId: 'sales', name: id, kind: null, connection: null }, noon)
}

async function verdict(team: TestTeam, token: string) {
  const verified = await team.verify(token)
  return verified && [verified.group.providedId, verified.validUntil]
}

for (const engine of engines)
  describe(`verifying a token in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('tells whose current token it is, and all that the group carries', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme', { name: 'Acme', mapping: { sales: 'x' }, properties: '{"a":[1]}' })
      assert.deepEqual(await team.verify(token), {
        group: {
          ...{ teamId: team.teamId, providedId: 'acme', name: 'Acme', disabled: false },
          ...{ mapping: { sales: 'x' }, properties: { a: [1] } },
        },
        validUntil: null,
        dataSources: new Map(),
      })
    })

    it('takes a turn of the event loop for each group that carries much, however many are asked for at once', async (t) => {
      const team = await on.newTeam()
      const properties = JSON.stringify({ note: 'x'.repeat(5_000) })
      const made = await Promise.all(times(8, (index) => team.make(`group ${index}`, { properties })))
      let turn = 0
      const count = () => {
        turn += 1
        counting = setImmediate(count)
      }
      let counting = setImmediate(count)
      // Whatever fails here: else the process would count for ever.
      t.after(() => clearImmediate(counting))
      const turnOf = (asked: Promise<unknown>) => asked.then(() => turn)
      const verified = await Promise.all(made.map(({ token }) => turnOf(team.verify(token))))
      const changed = await Promise.all(
        made.map(({ group }) => turnOf(team.userGroups.update(group.providedId, { name: 'Other' }, noon))),
      )
      assert.equal(new Set(verified).size, 8)
      assert.equal(new Set(changed).size, 8)
    })

    it('knows nothing of a token nobody has, or an API token', async () => {
      const team = await on.newTeam()
      await team.make('acme')
      const { tokens } = on.service
      assert.equal(await team.verify(nobodysToken(on.service)), undefined)
      const secret = tokens.mintForApi()
      await team.apiTokens.add(on.newApiToken({ hash: tokens.hash(secret) }), noon)
      assert.equal(await team.verify(secret), undefined)
    })

    it('finds the group that an import brought a token to, though by chance it leads to another', async () => {
      const team = await on.newTeam()
      const { tokens } = on.service
      const { token: leading, group } = await team.make('led to')
      await team.rotate(leading)
      const { id } = team.wish('')
      await team.make('brought to', { id, token: tokens.sealToken(leading, team.teamId, id) })
      assert.equal(tokens.lookup(leading)?.groupId, group.id)
      assert.deepEqual(await verdict(team, leading), ['brought to', null])
      const fresh = await team.rotate(leading, 60)
      assert.deepEqual(await verdict(team, leading), ['brought to', noon + 60_000])
      assert.deepEqual(await verdict(team, fresh), ['brought to', null])
      await assert.rejects(team.rotate(leading), { code: 'token_already_rotated' })
    })

    it('takes a token that was made of another, and leads elsewhere, for none that is valid', async () => {
      const team = await on.newTeam()
      const { tokens } = on.service
      const [{ token }, other] = [await team.make('acme'), await team.make('globex')]
      const beginning = token.slice(0, 26)
      const leads = new Leads(tokens.hash)
      const made = withChecksum(beginning + leads.write(beginning, other.group.id).lead)
      assert.equal(tokens.lookup(made)?.groupId, other.group.id)
      assert.deepEqual(await verdict(team, made), ['globex', 0])
      await assert.rejects(team.rotate(made), { code: 'token_already_rotated' })
      assert.deepEqual(await verdict(team, token), ['acme', null])
    })

    it('tells since when a replaced token is over, with its grace and without', async () => {
      const team = await on.newTeam()
      const { token: first } = await team.make('acme')
      const second = await team.rotate(first, 60, noon)
      assert.equal((await team.verify(first))?.validUntil, noon + 60_000)
      assert.equal((await team.verify(second))?.validUntil, null)
      const third = await team.rotate(second, 604_800, noon + 10_000)
      assert.equal((await team.verify(first))?.validUntil, noon + 60_000)
      assert.equal((await team.verify(second))?.validUntil, noon + 10_000 + 604_800_000)
      assert.equal((await team.verify(third))?.group.providedId, 'acme')
    })

    it('ends every earlier token with a rotation without grace, whatever the time is elsewhere', async () => {
      const team = await on.newTeam()
      const { token: first } = await team.make('acme')
      const second = await team.rotate(first, 1, noon)
      const third = await team.rotate(second, 3_600, noon + 2_000)
      await team.rotate(third, 0, noon + 5_000)
      for (const token of [first, second, third]) assert.equal((await team.verify(token))?.validUntil, 0)
    })

    it('ends the earlier tokens of that group only', async () => {
      const team = await on.newTeam()
      const [one, other] = [await team.make('one'), await team.make('other')]
      await team.rotate(one.token, 3_600)
      const current = await team.rotate(other.token, 3_600)
      await team.rotate(current, 0)
      assert.equal((await team.verify(one.token))?.validUntil, noon + 3_600_000)
    })

    it('says that a group is disabled, and no more once it is not', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      for (const disabled of [true, false]) {
        await team.userGroups.update('acme', { disabled }, noon)
        assert.equal((await team.verify(token))?.group.disabled, disabled)
      }
    })

    it('resolves a mapping by both ids of a data source, and leaves out what leads nowhere', async () => {
      const team = await on.newTeam()
      await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
      const own = await addSource(team, `ds_own_${team.teamId}`, 'acme-db')
      const nameless = await addSource(team, `ds_nameless_${team.teamId}`, null)
      const mapping = {
        ...{ 'by own id': own.id, 'by provided id': 'acme-db', nameless: nameless.id },
        ...{ nowhere: 'nothing', 'other case': 'ACME-DB', nul: 'a\0', 'half a pair': '\ud800', null: 'null' },
      }
      const { token } = await team.make('acme', { mapping })
      const verified = await team.verify(token)
      assert.deepEqual(verified?.group.mapping, mapping)
      assert.deepEqual(
        verified?.dataSources,
        new Map([
          ['by own id', own],
          ['by provided id', own],
          ['nameless', nameless],
        ]),
      )
    })

    it('resolves a mapping of 200 entries, each to its own data source', async () => {
      const team = await on.newTeam()
      await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
      const mapping: Record<string, string> = {}
      for (let i = 0; i < 200; i++) {
        if (i % 3 !== 0) await addSource(team, `ds_${team.teamId}_${i}`, `db ${i}`)
        mapping[`schema ${i}`] = i % 2 === 0 ? `db ${i}` : `ds_${team.teamId}_${i}`
      }
      const { token } = await team.make('acme', { mapping })
      const resolved = (await team.verify(token))?.dataSources ?? new Map()
      assert.equal(resolved.size, 133)
      for (const [schemaId, source] of resolved) assert.equal(source.providedId, schemaId.replace('schema', 'db'))
    })

    it('sees a change the moment it was made', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      await team.userGroups.update('acme', { name: 'New', mapping: { a: 'b' }, properties: '{"c":null}' }, noon)
      const { name, mapping, properties } = (await team.verify(token))?.group ?? assert.fail()
      assert.deepEqual({ name, mapping, properties }, { name: 'New', mapping: { a: 'b' }, properties: { c: null } })
      await team.userGroups.delete('acme', noon)
      assert.equal(await team.verify(token), undefined)
    })
  })
