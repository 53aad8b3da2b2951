import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { openService } from '../../src/service.ts'
import { engines } from '../support/engines.ts'
import { noon, storeOn, type TestTeam, teamOn } from '../support/store.ts'

const [sqlite = assert.fail()] = engines

describe('what a process on SQLite remembers', () => {
  const on = storeOn(sqlite)
  const version = () => on.service.store.version()
  /** Asks as a request does, and tells whether the answer was remembered. */
  const isRemembered = async (teamId: number, group: string): Promise<boolean> => {
    const { memory } = on.service
    let wasRead = false
    const read = () => {
      wasRead = true
      return group
    }
    memory.refresh()
    await memory.recall('user_group', teamId, group, read, () => ({ size: 0, group }))
    return !wasRead
  }

  it('outlives its own creates and rotations, but for the groups whose token they replace', async () => {
    const team = await on.newTeam()
    const groups = ['a', 'b', 'c', 'd', 'e']
    const made = await Promise.all(groups.map((group) => team.make(group)))
    const before = version()
    for (const group of groups) await isRemembered(team.teamId, group)
    await Promise.all([team.make('another'), team.rotate(made[1]?.token ?? ''), team.rotate(made[3]?.token ?? '', 60)])
    assert.equal(version(), before)
    const remembered: string[] = []
    for (const group of groups) if (await isRemembered(team.teamId, group)) remembered.push(group)
    assert.deepEqual(remembered, ['a', 'c', 'e'])
  })

  const imported = (team: TestTeam, providedId: string) => ({ ...team.wish(providedId), disabled: false })
  const changes: Record<string, (team: TestTeam, apiTokenId: number) => Promise<unknown>> = {
    'a change of a group': (team) => team.userGroups.update('acme', { name: 'Acme' }, noon),
    'the deletion of a group': (team) => team.userGroups.delete('acme', noon),
    'an import': (team) =>
      team.userGroups.importBatch([{ providedId: 'b', brought: undefined, make: () => imported(team, 'b') }], noon),
    'a schema': (team) => team.schemas.add({ id: 'sales', name: 'Sales' }, noon),
    'a revoked API token': (team, apiTokenId) => team.apiTokens.revoke(apiTokenId, noon, 'may_go'),
    'the use of an API token': (_, apiTokenId) => on.service.store.noteUse(apiTokenId, noon),
    'a setting of the team': (team) => team.settings.update({ strictMapping: true }, noon),
    'a create beside a change': (team) =>
      Promise.all([team.make('b'), team.userGroups.update('acme', { name: 'Acme' }, noon)]),
  }
  for (const [name, change] of Object.entries(changes))
    it(`is forgotten with ${name}`, async () => {
      const team = await on.newTeam()
      await team.make('acme')
      const apiToken = on.newApiToken()
      await team.apiTokens.add(apiToken, noon)
      await isRemembered(team.teamId, 'something')
      assert.ok(await isRemembered(team.teamId, 'something'))
      await change(team, apiToken.id)
      assert.equal(await isRemembered(team.teamId, 'something'), false)
    })

  it('is forgotten with a create or a rotation of another process, however many of its own come meanwhile', async (t) => {
    const other = await openService(readConfig(on.database.environment))
    t.after(() => other.store.close())
    const team = await on.newTeam()
    const elsewhere = teamOn(other, team.teamId, 'tests')
    const { token } = await team.make('acme')
    const theirs = [() => elsewhere.make('another'), () => elsewhere.rotate(token)]
    for (const change of theirs) {
      await isRemembered(team.teamId, 'acme')
      await team.make('a third')
      await change()
      await team.make('a fourth')
      assert.equal(await isRemembered(team.teamId, 'acme'), false)
    }
  })
})
