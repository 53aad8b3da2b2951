import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { keyOf, nobodysToken, noon, storeOn } from '../support/store.ts'
import { times } from '../support/times.ts'

for (const engine of engines)
  describe(`looking up and creating user groups in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('finds nothing where nothing was made', async () => {
      const team = await on.newTeam()
      assert.equal(await team.userGroups.find('acme'), undefined)
      assert.equal(await team.userGroups.get('acme'), undefined)
    })

    it('creates a group with all that was wished, and finds it again with its token', async () => {
      const team = await on.newTeam()
      const properties = '{"region":"eu","deep":[{"a":null}]}'
      const made = await team.make('acme', { name: 'Acme Inc.', mapping: { sales: 'acme-db' }, properties })
      assert.equal(made.created, true)
      assert.deepEqual(await team.userGroups.find('acme'), made.group)
      const { id, teamId, providedId, name } = made.group
      assert.deepEqual({ teamId, providedId, name }, { teamId: team.teamId, providedId: 'acme', name: 'Acme Inc.' })
      assert.ok(Number.isSafeInteger(id))
      assert.match(made.token, /^ugt_/)
      assert.deepEqual(await team.userGroups.get('acme'), {
        ...{ teamId, providedId, name, mapping: { sales: 'acme-db' }, properties: JSON.parse(properties) },
        ...{ disabled: false, createdAt: noon, updatedAt: noon, tokenRotatedAt: null },
      })
      assert.deepEqual(await team.trail(), ['user_group.created acme'])
    })

    it('returns a group that is there as it is, whatever is wished', async () => {
      const team = await on.newTeam()
      const first = await team.make('acme', { name: 'First' })
      const before = await team.userGroups.get('acme')
      const second = await team.make('acme', { name: 'Second', mapping: { a: 'b' }, properties: '{"c":1}' }, noon + 1)
      assert.deepEqual(second, { ...first, created: false })
      assert.deepEqual(await team.userGroups.get('acme'), before)
      assert.deepEqual(await team.trail(), ['user_group.created acme'])
    })

    it('keeps ids apart that differ in case, blanks or composition only', async () => {
      const team = await on.newTeam()
      const ids = [
        'acme',
        'Acme',
        'acme ',
        ' acme',
        'é',
        'e\u0301',
        'ﬁ',
        'fi',
        '1',
        '01',
        '%',
        '_',
        "'",
        '\\',
        '😀',
        '\u{10ffff}',
      ]
      for (const id of ids) assert.equal((await team.make(id)).created, true, id)
      for (const id of ids) assert.equal((await team.userGroups.find(id))?.providedId, id)
      assert.equal(await team.userGroups.find('ACME'), undefined)
    })

    it('lets exactly one of 100 who create the same group at once be the creator, and gives all the same', async () => {
      const team = await on.newTeam()
      const answers = await Promise.all(times(100, (index) => team.make('acme', { name: `Wish ${index}` })))
      assert.equal(answers.filter(({ created }) => created).length, 1)
      assert.equal(new Set(answers.map(({ token }) => token)).size, 1)
      assert.equal(new Set(answers.map(({ group }) => `${group.id} ${group.name}`)).size, 1)
      assert.deepEqual(await team.trail(), ['user_group.created acme'])
    })

    it('asks for another wish when the id made for it is taken, by any team', async () => {
      const [team, other] = [await on.newTeam(), await on.newTeam()]
      const taken = (await other.make('theirs')).group.id
      const wishes = [team.wish('acme', { id: taken }), team.wish('acme')]
      let asked = 0
      const { group, created } = await team.userGroups.getOrCreate(() => wishes[asked++] ?? assert.fail(), noon)
      assert.deepEqual({ asked, created, id: group.id }, { asked: 2, created: true, id: wishes[1]?.id })
      assert.equal(on.service.tokens.openToken(group).length, 42)
      assert.equal((await other.userGroups.find('theirs'))?.id, taken)
    })

    it('tells two who wish for the same group with the same made id that only one created it', async () => {
      const team = await on.newTeam()
      const first = await team.make('acme')
      const second = await team.make('acme', { id: first.group.id })
      assert.deepEqual(second, { ...first, created: false })
    })

    it('leaves nothing behind of a group whose mapping a strict team refuses', async () => {
      const team = await on.newTeam()
      await team.settings.update({ strictMapping: true }, noon)
      const refused = team.make('acme', { mapping: { sales: 'nowhere' } })
      await assert.rejects(refused, { code: 'unknown_data_source', field: 'mapping.sales' })
      assert.equal(await team.userGroups.find('acme'), undefined)
      assert.deepEqual(await team.trail(), [`team.updated ${team.teamId}`])
      assert.equal((await team.make('acme')).created, true)
    })
  })

for (const engine of engines)
  describe(`replacing the token of a user group in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('returns the group with the new token, which is the one found from then on', async () => {
      const team = await on.newTeam()
      const { token, group } = await team.make('acme')
      const { tokens } = on.service
      const fresh = tokens.mintForUserGroup(team.teamId, group.id, noon)
      const sealedFor: number[] = []
      const seal = (groupId: number) => {
        sealedFor.push(groupId)
        return fresh.sealed
      }
      const replaced = await team.userGroups.replaceToken(keyOf(tokens, token), { seal, graceSeconds: 0 }, noon + 5)
      assert.deepEqual(sealedFor, [group.id])
      assert.deepEqual({ ...replaced, token: null }, { ...group, token: null })
      assert.equal(tokens.openToken(replaced), fresh.token)
      assert.deepEqual(await team.userGroups.find('acme'), replaced)
      const record = await team.userGroups.get('acme')
      assert.deepEqual([record?.tokenRotatedAt, record?.updatedAt], [noon + 5, noon])
      assert.deepEqual(await team.trail(), ['user_group.created acme', 'user_group.token_rotated acme'])
    })

    it('refuses a token that was replaced before, and one that nobody has, and changes nothing', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      const second = await team.rotate(token)
      const before = await team.userGroups.find('acme')
      await assert.rejects(team.rotate(token), { code: 'token_already_rotated' })
      await assert.rejects(team.rotate(nobodysToken(on.service)), { code: 'token_not_found' })
      assert.deepEqual(await team.userGroups.find('acme'), before)
      assert.equal((await team.trail()).length, 2)
      const third = await team.rotate(second)
      for (const old of [token, second]) await assert.rejects(team.rotate(old), { code: 'token_already_rotated' })
      await team.rotate(third)
    })

    it('lets exactly one of 100 who replace the same token at once win', async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      const answers = await Promise.allSettled(times(100, () => team.rotate(token)))
      const [winner, ...more] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
      assert.equal(more.length, 0)
      const codes = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason.code] : []))
      assert.deepEqual(new Set(codes), new Set(['token_already_rotated']))
      const found = await team.userGroups.find('acme')
      assert.equal(found && on.service.tokens.openToken(found), winner)
      assert.equal((await team.trail()).length, 2)
    })

    it("changes nothing when the new token cannot be sealed, or is another group's", async () => {
      const team = await on.newTeam()
      const { token } = await team.make('acme')
      const { tokens } = on.service
      const brought = 'a-token-from-another-system'
      const wish = team.wish('other')
      await team.make('other', { id: wish.id, token: tokens.sealToken(brought, team.teamId, wish.id) })
      const before = [await team.userGroups.find('acme'), await team.trail()]
      const sealers = [
        () => assert.fail('no key'),
        (groupId: number) => tokens.sealToken(brought, team.teamId, groupId),
        (groupId: number) => ({ ...tokens.sealToken(token, team.teamId, groupId), keyId: 'no such key' }),
      ]
      for (const seal of sealers)
        await assert.rejects(team.userGroups.replaceToken(keyOf(tokens, token), { seal, graceSeconds: 0 }, noon))
      assert.deepEqual([await team.userGroups.find('acme'), await team.trail()], before)
      await team.rotate(token)
    })
  })
