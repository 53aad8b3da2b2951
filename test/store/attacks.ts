import assert from 'node:assert/strict'
import type { ServiceError } from '../../src/errors.ts'
import type { TeamStore } from '../../src/store/store.ts'
import { firstPage, keyOf, noon, type StoreOnTest, type TestTeam } from '../support/store.ts'
import { times } from '../support/times.ts'

/** What the other team has, by every name it can be asked for. */
export interface Theirs {
  teamId: number
  /** Found in all of their names, so that no answer may show it. */
  mark: string
  providedId: string
  groupId: number
  currentToken: string
  /** Of another of their groups: it came along from another system. */
  broughtToken: string
  formerToken: string
  schemaId: string
  dataSourceId: string
  dataSourceProvidedId: string
  apiTokenId: number
  apiTokenHash: Uint8Array
}

/** A team with one of everything, under names that no other team has. */
export async function furnish(on: StoreOnTest): Promise<Theirs> {
  const mark = 'Belongs to the others'
  const team = await on.newTeam(mark)
  await team.settings.update({ name: mark }, noon)
  await team.schemas.add({ id: 'their schema', name: mark }, noon)
  const source = { id: 'ds_theirs', providedId: 'their-db', schemaId: 'their schema', name: mark, kind: mark }
  await team.dataSources.add({ ...source, connection: null }, noon)
  const properties = JSON.stringify({ mark })
  const { group, token } = await team.make('theirs', { name: mark, mapping: { [mark]: 'their-db' }, properties })
  const broughtToken = 'their-token-from-another-system'
  const { id } = team.wish('')
  const brought = on.service.tokens.sealToken(broughtToken, team.teamId, id)
  await team.make('Theirs, in capitals', { id, name: mark, token: brought })
  const currentToken = await team.rotate(token, 604_800)
  const apiToken = on.newApiToken({ name: mark, scopes: ['admin'] })
  await team.apiTokens.add(apiToken, noon)
  return {
    ...{ teamId: team.teamId, mark, providedId: 'theirs', groupId: group.id },
    ...{ currentToken, broughtToken, formerToken: token },
    ...{ schemaId: 'their schema', dataSourceId: 'ds_theirs', dataSourceProvidedId: 'their-db' },
    ...{ apiTokenId: apiToken.id, apiTokenHash: apiToken.hash },
  }
}

type MethodName = {
  [Part in keyof TeamStore]: `${Part}.${keyof TeamStore[Part] & string}`
}[keyof TeamStore]

/** A call of our team that reaches for what is theirs. What it answers with, or how it fails, is part of the promise. */
type Attack = (ours: TestTeam, theirs: Theirs, on: StoreOnTest) => Promise<unknown>

/** Every method a team's store has; a test misses those that were added to it and not to this list. */
export const attacks: Partial<Record<MethodName, Attack[]>> = {
  'userGroups.find': [async (ours, { providedId }) => assert.equal(await ours.userGroups.find(providedId), undefined)],
  'userGroups.getOrCreate': [
    async (ours, { providedId }) => assert.equal((await ours.make(providedId)).created, true),
    async (ours, { groupId, providedId }) => {
      const wishes = [ours.wish(providedId, { id: groupId }), ours.wish(providedId)]
      const { group } = await ours.userGroups.getOrCreate(() => wishes.shift() ?? assert.fail(), noon)
      assert.notEqual(group.id, groupId)
    },
  ],
  'userGroups.replaceToken': [
    (ours, { currentToken }) => assert.rejects(ours.rotate(currentToken), { code: 'token_not_found' }),
    (ours, { formerToken }) => assert.rejects(ours.rotate(formerToken), { code: 'token_not_found' }),
    (ours, { broughtToken }) => assert.rejects(ours.rotate(broughtToken), { code: 'token_not_found' }),
    async (ours, { broughtToken }, { service }) => {
      const { token } = await ours.make('ours')
      const seal = (groupId: number) => service.tokens.sealToken(broughtToken, ours.teamId, groupId)
      await assert.rejects(ours.userGroups.replaceToken(keyOf(service.tokens, token), { seal, graceSeconds: 0 }, noon))
    },
  ],
  'userGroups.verify': [
    async (ours, { currentToken }) => assert.equal(await ours.verify(currentToken), undefined),
    async (ours, { formerToken }) => assert.equal(await ours.verify(formerToken), undefined),
    async (ours, { broughtToken }) => assert.equal(await ours.verify(broughtToken), undefined),
    async (ours, { dataSourceId, dataSourceProvidedId }) => {
      const { token } = await ours.make('ours', { mapping: { a: dataSourceId, b: dataSourceProvidedId } })
      assert.equal((await ours.verify(token))?.dataSources.size, 0)
    },
  ],
  'userGroups.get': [async (ours, { providedId }) => assert.equal(await ours.userGroups.get(providedId), undefined)],
  'userGroups.list': [
    async (ours) => assert.deepEqual(await ours.userGroups.list({ after: 0, limit: 200 }), { items: [], next: null }),
    async (ours, { mark, groupId }) =>
      assert.deepEqual((await ours.userGroups.list({ after: groupId - 1, limit: 9, prefix: mark })).items, []),
    async (ours, { providedId: prefix }) =>
      assert.deepEqual((await ours.userGroups.list({ after: 0, limit: 9, prefix })).items, []),
  ],
  'userGroups.update': [
    async (ours, { providedId }) =>
      assert.equal(await ours.userGroups.update(providedId, { disabled: true }, noon), undefined),
    async (ours) => {
      // Under names that only these two teams have: the other attacks leave groups called "ours" and "theirs".
      const [own, providedId] = [`group of team ${ours.teamId}`, 'Theirs, in capitals']
      await ours.make(own)
      assert.equal((await ours.userGroups.update(own, { providedId }, noon))?.providedId, providedId)
    },
    async (ours) => {
      await ours.make('ours', { mapping: { a: 'b' } })
      assert.deepEqual((await ours.userGroups.update('ours', { mapping: {} }, noon))?.mapping, {})
    },
    async (ours, { dataSourceId }) => {
      await ours.make('ours')
      await ours.settings.update({ strictMapping: true }, noon)
      const change = ours.userGroups.update('ours', { mapping: { a: dataSourceId } }, noon)
      await assert.rejects(change, { code: 'unknown_data_source' })
    },
  ],
  'userGroups.delete': [
    async (ours, { providedId }) => assert.equal(await ours.userGroups.delete(providedId, noon), false),
  ],
  'userGroups.importBatch': [
    async (ours, { providedId }) => {
      const make = () => ({ ...ours.wish(providedId), disabled: false })
      assert.deepEqual(await ours.userGroups.importBatch([{ providedId, brought: undefined, make }], noon), ['created'])
    },
    async (ours, { groupId }) => {
      const ids = [groupId]
      const make = () => ({ ...ours.wish('ours', { ...(ids.length > 0 && { id: ids.pop() ?? 0 }) }), disabled: false })
      assert.deepEqual(await ours.userGroups.importBatch([{ providedId: 'ours', brought: undefined, make }], noon), [
        'created',
      ])
    },
    async (ours, { currentToken, formerToken, broughtToken }, { service }) => {
      for (const token of [currentToken, formerToken, broughtToken]) {
        const make = () => {
          const wish = ours.wish('ours')
          return { ...wish, disabled: false, token: service.tokens.sealToken(token, ours.teamId, wish.id) }
        }
        const [outcome] = await ours.userGroups.importBatch(
          [{ providedId: 'ours', brought: keyOf(service.tokens, token), make }],
          noon,
        )
        assert.equal((outcome as ServiceError).code, 'conflict')
        assert.equal(await ours.userGroups.find('ours'), undefined)
      }
    },
    async (ours, { dataSourceId }) => {
      await ours.settings.update({ strictMapping: true }, noon)
      const make = () => ({ ...ours.wish('ours', { mapping: { a: dataSourceId } }), disabled: false })
      const [outcome] = await ours.userGroups.importBatch([{ providedId: 'ours', brought: undefined, make }], noon)
      assert.equal((outcome as ServiceError).code, 'unknown_data_source')
    },
  ],
  'userGroups.count': [async (ours) => assert.equal(await ours.userGroups.count(), 0)],
  'userGroups.listWithTokens': [
    async (ours, { groupId }) => {
      for (const after of [0, groupId - 1])
        assert.deepEqual(await ours.userGroups.listWithTokens({ after, limit: 200 }), { items: [], next: null })
    },
  ],
  'schemas.add': [(ours, { schemaId }) => ours.schemas.add({ id: schemaId, name: 'Ours' }, noon)],
  'schemas.list': [async (ours) => assert.deepEqual(await ours.schemas.list(firstPage), { items: [], next: null })],
  'schemas.get': [async (ours, { schemaId }) => assert.equal(await ours.schemas.get(schemaId), undefined)],
  'schemas.delete': [async (ours, { schemaId }) => assert.equal(await ours.schemas.delete(schemaId, noon), false)],
  'dataSources.add': [
    async (ours, { schemaId }) => {
      const source = { id: 'ds_ours', providedId: null, schemaId, name: 'Ours', kind: null, connection: null }
      await assert.rejects(ours.dataSources.add(source, noon), { code: 'invalid_request', field: 'schema_id' })
    },
    async (ours, { dataSourceProvidedId: providedId }) => {
      await ours.schemas.add({ id: 'ours', name: 'Ours' }, noon)
      const source = { id: 'ds_ours', providedId, schemaId: 'ours', name: 'Ours', kind: null, connection: null }
      assert.equal((await ours.dataSources.add(source, noon)).providedId, providedId)
      await assert.rejects(ours.dataSources.update('ds_ours', { schemaId: 'their schema' }, noon), {
        field: 'schema_id',
      })
    },
  ],
  'dataSources.list': [
    async (ours) => assert.deepEqual(await ours.dataSources.list(firstPage), { items: [], next: null }),
  ],
  'dataSources.get': [
    async (ours, { dataSourceId }) => assert.equal(await ours.dataSources.get(dataSourceId), undefined),
    async (ours, { dataSourceProvidedId }) => assert.equal(await ours.dataSources.get(dataSourceProvidedId), undefined),
  ],
  'dataSources.update': [
    async (ours, { dataSourceId }) =>
      assert.equal(await ours.dataSources.update(dataSourceId, { name: 'x' }, noon), undefined),
    async (ours, { dataSourceProvidedId: id }) =>
      assert.equal(await ours.dataSources.update(id, { kind: 'x' }, noon), undefined),
  ],
  'dataSources.delete': [
    async (ours, { dataSourceId }) => assert.equal(await ours.dataSources.delete(dataSourceId, noon), false),
    async (ours, { dataSourceProvidedId }) =>
      assert.equal(await ours.dataSources.delete(dataSourceProvidedId, noon), false),
    async (ours, { dataSourceProvidedId: providedId }) => {
      await ours.schemas.add({ id: 'ours', name: 'Ours' }, noon)
      const source = { id: 'ds_namesake', schemaId: 'ours', providedId, name: 'Ours', kind: null, connection: null }
      await ours.dataSources.add(source, noon)
      assert.equal(await ours.dataSources.delete(providedId, noon), true, 'kept for the use that they make of theirs')
    },
  ],
  'apiTokens.add': [
    async (ours, { apiTokenHash: hash }, on) =>
      assert.equal(await ours.apiTokens.add(on.newApiToken({ hash }), noon), false),
    (ours, { apiTokenId: id }, on) => assert.rejects(ours.apiTokens.add(on.newApiToken({ id }), noon)),
  ],
  'apiTokens.list': [
    async (ours) => assert.deepEqual(await ours.apiTokens.list({ after: 0, limit: 200 }), { items: [], next: null }),
  ],
  'apiTokens.all': [async (ours) => assert.deepEqual(await ours.apiTokens.all(), [])],
  'apiTokens.revoke': [
    async (ours, { apiTokenId }) => assert.equal(await ours.apiTokens.revoke(apiTokenId, noon, 'may_go'), undefined),
  ],
  'events.list': [
    async (ours) => assert.deepEqual(await ours.events.list({ limit: 1_000 }), { items: [], next: null }),
    async (ours, { providedId, apiTokenId }) => {
      // As many as they have, and more: where there is none of ours, nothing is looked through.
      for (const index of times(20, (index) => index)) await ours.make(`ours ${index}`)
      const filters = [
        { userGroup: providedId },
        { kind: 'schema.created' },
        { apiTokenId },
        { apiTokenId: 1 },
        {},
      ] as const
      for (const filter of filters)
        for (const order of ['asc', 'desc'] as const)
          for (const { subject } of (await ours.events.list({ ...filter, order, limit: 1_000 })).items)
            assert.match(subject ?? '', /^ours /)
    },
  ],
  'events.newest': [async (ours) => assert.equal(await ours.events.newest(), 0)],
  'settings.get': [async (ours) => assert.equal((await ours.settings.get()).id, ours.teamId)],
  'settings.update': [
    async (ours) => assert.equal((await ours.settings.update({ name: 'Ours' }, noon)).id, ours.teamId),
  ],
}
