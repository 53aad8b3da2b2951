import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewDataSource } from '../../src/data-sources/data-source.ts'
import { engines } from '../support/engines.ts'
import { firstPage, noon, storeOn, type TestTeam } from '../support/store.ts'
import { times } from '../support/times.ts'

let made = 0
function newSource(more: Partial<NewDataSource> = {}): NewDataSource {
  made += 1
  const id = `ds_${process.pid}_${made}`
  return { id, providedId: null, schemaId: 'sales', name: 'A database', kind: null, connection: null, ...more }
}

for (const engine of engines) {
  const suite = (what: string, tests: (newTeam: () => Promise<TestTeam>, on: ReturnType<typeof storeOn>) => void) =>
    describe(`${what} in ${engine.name}`, () => {
      const on = storeOn(engine)
      const newTeam = async () => {
        const team = await on.newTeam()
        await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
        return team
      }
      tests(newTeam, on)
    })

  suite('schemas', (newTeam) => {
    it('are kept as they came, and listed in the order they were made', async () => {
      const team = await newTeam()
      const added = await team.schemas.add({ id: 'a', name: 'Ä' }, noon + 1)
      assert.deepEqual(added, { id: 'a', name: 'Ä', createdAt: noon + 1 })
      assert.deepEqual(await team.schemas.get('a'), added)
      const items = [{ id: 'sales', name: 'Sales', createdAt: noon }, added]
      assert.deepEqual(await team.schemas.list(firstPage), { items, next: null })
      assert.equal(await team.schemas.get('A'), undefined)
      assert.deepEqual(await team.trail(), ['schema.created sales', 'schema.created a'])
    })

    it('are not replaced by another of the same id', async () => {
      const team = await newTeam()
      const before = [await team.schemas.list(firstPage), await team.trail()]
      await assert.rejects(team.schemas.add({ id: 'sales', name: 'Other' }, noon), { code: 'conflict', field: 'id' })
      assert.deepEqual([await team.schemas.list(firstPage), await team.trail()], before)
    })

    it('are deleted unless data sources belong to them', async () => {
      const team = await newTeam()
      const source = await team.dataSources.add(newSource(), noon)
      await assert.rejects(team.schemas.delete('sales', noon), { code: 'conflict' })
      assert.equal((await team.schemas.list(firstPage)).items.length, 1)
      await team.dataSources.delete(source.id, noon)
      assert.equal(await team.schemas.delete('sales', noon), true)
      assert.equal(await team.schemas.delete('sales', noon), false)
      assert.deepEqual((await team.schemas.list(firstPage)).items, [])
      assert.equal((await team.trail()).at(-1), 'schema.deleted sales')
    })

    it('are deleted or get a data source, never both, when two do it at once', async () => {
      for (let round = 0; round < 25; round++) {
        const team = await newTeam()
        const [added, deleted] = await Promise.allSettled([
          team.dataSources.add(newSource(), noon),
          team.schemas.delete('sales', noon),
        ])
        assert.notEqual(added.status, deleted.status)
        if (added.status === 'rejected') assert.equal(added.reason.code, 'invalid_request')
        if (deleted.status === 'rejected') assert.equal(deleted.reason.code, 'conflict')
      }
    })
  })

  suite('data sources', (newTeam, on) => {
    it('are kept as they came, without a word of their connection', async () => {
      const team = await newTeam()
      const place = { purpose: 'data_source.connection', teamId: team.teamId, id: `ds_sealed_${team.teamId}` } as const
      const connection = on.service.tokens.seal(Buffer.from('{"password":"x"}'), place)
      const wish = newSource({ id: place.id, providedId: 'acme-db', kind: 'postgres', connection })
      const { connection: _, ...shown } = { ...wish, createdAt: noon, updatedAt: noon }
      assert.deepEqual(await team.dataSources.add(wish, noon), shown)
      for (const id of [wish.id, 'acme-db']) assert.deepEqual(await team.dataSources.get(id), shown)
      assert.deepEqual(await team.dataSources.list(firstPage), { items: [shown], next: null })
      assert.deepEqual((await team.trail()).at(-1), `data_source.created ${wish.id}`)
      const [row] = await on.sql(`select connection_sealed from data_source where id = '${wish.id}'`)
      assert.deepEqual(Buffer.from(row?.connection_sealed as Uint8Array), connection.bytes)
    })

    it('need a schema of the team, and a provided id of their own', async () => {
      const team = await newTeam()
      await team.dataSources.add(newSource({ providedId: 'taken' }), noon)
      const second = await team.dataSources.add(newSource({ providedId: 'free' }), noon)
      const before = [await team.dataSources.list(firstPage), await team.trail()]
      const noSchema = { code: 'invalid_request', field: 'schema_id' }
      const taken = { code: 'conflict', field: 'provided_id' }
      await assert.rejects(team.dataSources.add(newSource({ schemaId: 'none' }), noon), noSchema)
      await assert.rejects(team.dataSources.add(newSource({ providedId: 'taken' }), noon), taken)
      await assert.rejects(team.dataSources.update(second.id, { schemaId: 'none' }, noon), noSchema)
      await assert.rejects(team.dataSources.update(second.id, { providedId: 'taken', name: 'x' }, noon), taken)
      assert.deepEqual([await team.dataSources.list(firstPage), await team.trail()], before)
    })

    for (const change of [{ name: 'New' }, { kind: 'mysql' }, { providedId: 'new' }, { schemaId: 'other' }, {}])
      it(`change what is sent and nothing else: ${JSON.stringify(change)}`, async () => {
        const team = await newTeam()
        await team.schemas.add({ id: 'other', name: 'Other' }, noon)
        const before = await team.dataSources.add(newSource({ providedId: 'old', kind: 'postgres' }), noon)
        const after = { ...before, ...change, updatedAt: noon + 3 }
        assert.deepEqual(await team.dataSources.update('old', change, noon + 3), after)
        assert.deepEqual(await team.dataSources.get(before.id), after)
        assert.equal((await team.trail()).at(-1), `data_source.updated ${before.id}`)
      })

    it('that do not exist are neither changed nor deleted', async () => {
      const team = await newTeam()
      assert.equal(await team.dataSources.get('none'), undefined)
      assert.equal(await team.dataSources.update('none', { name: 'x' }, noon), undefined)
      assert.equal(await team.dataSources.delete('none', noon), false)
      assert.deepEqual(await team.trail(), ['schema.created sales'])
    })

    it('stay, and keep the id they are mapped by, while a mapping uses them', async () => {
      const team = await newTeam()
      const source = await team.dataSources.add(newSource({ providedId: 'acme-db' }), noon)
      for (const value of [source.id, 'acme-db']) {
        await team.make('acme', { mapping: { sales: value } })
        await assert.rejects(team.dataSources.delete(source.id, noon), { code: 'conflict' })
        await team.userGroups.update('acme', { mapping: { sales: 'something else' } }, noon)
        await team.userGroups.update('acme', { mapping: { sales: value } }, noon)
        await assert.rejects(team.dataSources.delete('acme-db', noon), { code: 'conflict' })
        await team.userGroups.delete('acme', noon)
      }
      const { group } = await team.make('by name', { mapping: { sales: 'acme-db' } })
      await assert.rejects(team.dataSources.update('acme-db', { providedId: 'new' }, noon), { code: 'conflict' })
      assert.equal((await team.dataSources.update('acme-db', { name: 'New' }, noon))?.name, 'New')
      await team.make('without', { mapping: { sales: 'elsewhere' } })
      await team.userGroups.update('without', { mapping: {} }, noon)
      await assert.rejects(team.dataSources.delete('acme-db', noon), { code: 'conflict' })
      await team.userGroups.update(group.providedId, { mapping: {} }, noon)
      assert.equal((await team.dataSources.update('acme-db', { providedId: 'new' }, noon))?.providedId, 'new')
      assert.equal(await team.dataSources.delete('new', noon), true)
      assert.equal(await team.dataSources.delete('new', noon), false)
    })

    it('are deleted or mapped by a strict team, never both, when two do it at once', async () => {
      for (let round = 0; round < 25; round++) {
        const team = await newTeam()
        await team.settings.update({ strictMapping: true }, noon)
        const { id } = await team.dataSources.add(newSource(), noon)
        const [mapped, deleted] = await Promise.allSettled([
          team.make('acme', { mapping: { sales: id } }),
          team.dataSources.delete(id, noon),
        ])
        assert.notEqual(mapped.status, deleted.status, `both were ${mapped.status} in round ${round}`)
      }
    })

    it('take one provided id once, when many do it at once', async () => {
      const team = await newTeam()
      const adds = times(20, () => team.dataSources.add(newSource({ providedId: 'acme-db' }), noon))
      const codes = (await Promise.allSettled(adds)).map((add) =>
        add.status === 'rejected' ? add.reason.code : 'added',
      )
      assert.deepEqual(codes.sort(), ['added', ...times(19, () => 'conflict')])
    })
  })
}
