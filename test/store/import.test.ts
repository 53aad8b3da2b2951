import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ServiceError } from '../../src/errors.ts'
import type { ImportOutcome, ImportWish } from '../../src/store/store.ts'
import type { ImportedUserGroup } from '../../src/user-groups/user-group.ts'
import { engines } from '../support/engines.ts'
import { keyOf, noon, type StoreOnTest, storeOn, type TestTeam } from '../support/store.ts'
import { times } from '../support/times.ts'

/** A wish to import; `token` is the one it comes with, instead of a new one. */
function importing(
  { service }: StoreOnTest,
  team: TestTeam,
  providedId: string,
  { token, ...more }: Partial<Omit<ImportedUserGroup, 'token'>> & { token?: string } = {},
): ImportWish {
  return {
    providedId,
    brought: token === undefined ? undefined : keyOf(service.tokens, token),
    make() {
      const wish = { ...team.wish(providedId, more), disabled: false, ...more }
      return token === undefined ? wish : { ...wish, token: service.tokens.sealToken(token, team.teamId, wish.id) }
    },
  }
}

function inWords(outcomes: readonly ImportOutcome[]): string[] {
  return outcomes.map((each) => (each instanceof ServiceError ? `${each.code} ${each.field}` : each))
}

for (const engine of engines)
  describe(`importing user groups into ${engine.name}`, () => {
    const on = storeOn(engine)

    it('creates each as it came, with the token it came with, and records each', async () => {
      const team = await on.newTeam()
      const token = 'a-token-from-another-system'
      const acme = { name: 'Acme', mapping: { a: 'b' }, properties: '{"c":[1]}', disabled: true, token }
      const wishes = [importing(on, team, 'b'), importing(on, team, 'acme', acme)]
      assert.deepEqual(await team.userGroups.importBatch(wishes, noon), ['created', 'created'])
      assert.deepEqual(await team.userGroups.get('acme'), {
        ...{ teamId: team.teamId, providedId: 'acme', name: 'Acme', mapping: { a: 'b' }, properties: { c: [1] } },
        ...{ disabled: true, createdAt: noon, updatedAt: noon, tokenRotatedAt: null },
      })
      assert.equal((await team.verify(token))?.group.providedId, 'acme')
      assert.deepEqual((await team.trail()).sort(), ['user_group.created acme', 'user_group.created b'])
      await team.rotate(token)
    })

    it('leaves a group that is there as it is, and makes nothing for it', async () => {
      const team = await on.newTeam()
      await team.make('acme')
      const before = [await team.userGroups.get('acme'), await team.userGroups.find('acme'), await team.trail()]
      const make = () => assert.fail('it was made')
      assert.deepEqual(
        await team.userGroups.importBatch([{ providedId: 'acme', brought: undefined, make }], noon + 1),
        ['already_there'],
      )
      assert.deepEqual(
        [await team.userGroups.get('acme'), await team.userGroups.find('acme'), await team.trail()],
        before,
      )
      assert.deepEqual(await team.userGroups.importBatch([], noon), [])
    })

    it('refuses another token for a group that is there, and only that', async () => {
      const team = await on.newTeam()
      const { token: former } = await team.make('acme')
      const current = await team.rotate(former)
      const make = () => assert.fail('it was made')
      const wishes = [current, former, 'a-token-nobody-has-yet', undefined].map((token) => {
        return { providedId: 'acme', make, brought: token === undefined ? undefined : keyOf(on.service.tokens, token) }
      })
      const outcomes = inWords(await team.userGroups.importBatch(wishes, noon))
      assert.deepEqual(outcomes, ['already_there', 'conflict token', 'conflict token', 'already_there'])
    })

    it('takes the first of several with the same id', async () => {
      const team = await on.newTeam()
      const wishes = times(3, (index) => importing(on, team, 'acme', { name: `Name ${index}` }))
      const outcomes = await team.userGroups.importBatch([...wishes, importing(on, team, 'other')], noon)
      assert.deepEqual(inWords(outcomes), ['created', 'already_there', 'already_there', 'created'])
      assert.equal((await team.userGroups.get('acme'))?.name, 'Name 0')
      assert.equal((await team.trail()).length, 2)
    })

    it('refuses a token that somebody has or had, and stores the others', async () => {
      const team = await on.newTeam()
      const { token: former } = await team.make('there')
      const current = await team.rotate(former)
      const wishes = [
        importing(on, team, 'a', { token: current }),
        importing(on, team, 'b', { token: former, mapping: { a: 'b' } }),
        importing(on, team, 'c', { token: 'the-same-token-for-two' }),
        importing(on, team, 'd', { token: 'the-same-token-for-two' }),
        importing(on, team, 'e'),
      ]
      const outcomes = inWords(await team.userGroups.importBatch(wishes, noon))
      assert.deepEqual(outcomes, ['conflict token', 'conflict token', 'created', 'conflict token', 'created'])
      for (const id of ['a', 'b', 'd']) assert.equal(await team.userGroups.find(id), undefined)
      assert.deepEqual((await team.trail()).slice(2).sort(), ['user_group.created c', 'user_group.created e'])
      assert.equal(await team.userGroups.count(), 3)
      await team.rotate(current)
    })

    it('refuses a strict team a mapping that leads nowhere, and stores the others', async () => {
      const team = await on.newTeam()
      await team.settings.update({ strictMapping: true }, noon)
      const wishes = [importing(on, team, 'a', { mapping: { sales: 'nowhere' } }), importing(on, team, 'b')]
      const outcomes = inWords(await team.userGroups.importBatch(wishes, noon))
      assert.deepEqual(outcomes, ['unknown_data_source mapping.sales', 'created'])
      assert.equal(await team.userGroups.find('a'), undefined)
    })

    it('decides each as if it had come alone: one that is refused does not hide behind a later one', async () => {
      const team = await on.newTeam()
      await team.settings.update({ strictMapping: true }, noon)
      const { token } = await team.make('there')
      const wishes = [
        importing(on, team, 'a', { mapping: { sales: 'nowhere' } }),
        importing(on, team, 'a', { name: 'Second' }),
        importing(on, team, 'b', { token }),
        importing(on, team, 'b', { name: 'Second' }),
      ]
      const outcomes = inWords(await team.userGroups.importBatch(wishes, noon))
      for (const id of ['a', 'b']) assert.equal((await team.userGroups.get(id))?.name, 'Second')
      assert.deepEqual(outcomes, ['unknown_data_source mapping.sales', 'created', 'conflict token', 'created'])
    })

    it('makes a group anew when the id made for it is taken', async () => {
      const team = await on.newTeam()
      const { id } = (await team.make('there')).group
      const ids = [id, id]
      const make = () => ({ ...team.wish('acme', ids.length > 0 ? { id: ids.pop() ?? 0 } : {}), disabled: false })
      assert.deepEqual(await team.userGroups.importBatch([{ providedId: 'acme', brought: undefined, make }], noon), [
        'created',
      ])
      assert.notEqual((await team.userGroups.find('acme'))?.id, id)
    })

    it('counts a group as created once when several import it at once and made the same id for it', async () => {
      const team = await on.newTeam()
      const id = (await team.make('another')).group.id + 1
      const batches = times(10, () => team.userGroups.importBatch([importing(on, team, 'acme', { id })], noon))
      const outcomes = (await Promise.all(batches)).flat()
      assert.equal(outcomes.filter((outcome) => outcome === 'created').length, 1, outcomes.join())
    })

    it('creates each of 300 groups once when four import them at once, in any order', async () => {
      const team = await on.newTeam()
      const batches = times(4, (index) => {
        const wishes = times(300, (number) => importing(on, team, `group ${number}`))
        return team.userGroups.importBatch(index % 2 === 0 ? wishes : wishes.toReversed(), noon)
      })
      const outcomes = (await Promise.all(batches)).flat()
      assert.equal(outcomes.filter((outcome) => outcome === 'created').length, 300)
      assert.equal(outcomes.filter((outcome) => outcome === 'already_there').length, 900)
      assert.equal(await team.userGroups.count(), 300)
      assert.equal((await team.trail()).length, 300)
    })

    it('is exported again in pages, each token as it was', async () => {
      const team = await on.newTeam()
      const tokens = times(5, (index) => `the-token-of-group-${index}`)
      const wishes = tokens.map((token, index) => importing(on, team, `group ${index}`, { token }))
      await team.userGroups.importBatch(wishes, noon)
      const seen: string[] = []
      for (let after: number | null = 0; after !== null; ) {
        const { items, next } = await team.userGroups.listWithTokens({ after, limit: 2 })
        for (const { token, id, ...record } of items) {
          seen.push(on.service.tokens.openToken({ id, teamId: team.teamId, token }))
          assert.deepEqual(record, await team.userGroups.get(record.providedId))
        }
        after = next
      }
      assert.deepEqual(seen.sort(), tokens)
      assert.equal(await team.userGroups.count(), 5)
    })
  })
