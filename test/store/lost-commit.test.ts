import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { NewDataSource } from '../../src/data-sources/data-source.ts'
import { sql } from '../../src/store/database.ts'
import { behindLine } from '../support/behind-line.ts'
import { engines } from '../support/engines.ts'
import { noon, storeOn, type TestTeam } from '../support/store.ts'

const [, postgres = assert.fail()] = engines

const { name: commit } = sql`commit`

describe('a commit on PostgreSQL that is done, but whose answer is lost with the connection', () => {
  /** What happens to the next commit: its answer is lost, or it arrives only after the connection is. */
  let next: 'lost' | 'late' | undefined
  const engine = behindLine(postgres, (near, far) => {
    let isLost = false
    near.on('data', (sent) => {
      const isCommit = sent.includes(commit)
      const isLate = next === 'late' && isCommit
      isLost ||= next !== undefined && isCommit
      if (isLost) next = undefined
      if (isLate) setTimeout(() => far.write(sent), 300)
      else far.write(sent)
      if (isLate) near.destroy()
    })
    far.on('data', (answer) => {
      if (!isLost) near.write(answer)
      else if (answer.includes('COMMIT\0')) near.destroy()
    })
    near.on('close', () => setTimeout(() => far.destroy(), 1_000))
    far.on('close', () => near.destroy())
  })
  const on = storeOn(engine)

  const once: Record<
    string,
    { before?: (team: TestTeam) => Promise<unknown>; write(team: TestTeam): Promise<unknown> }
  > = {
    'a team made': { write: () => on.service.store.teams.create('Another', noon) },
    'a change of settings': { write: (team) => team.settings.update({ name: 'Renamed' }, noon) },
    'an API token made': { write: (team) => team.apiTokens.add(on.newApiToken(), noon) },
    'a schema made': { write: (team) => team.schemas.add({ id: 'sales', name: 'Sales' }, noon) },
    'a schema deleted': {
      before: (team) => team.schemas.add({ id: 'sales', name: 'Sales' }, noon),
      write: (team) => team.schemas.delete('sales', noon),
    },
    'a data source made': {
      before: (team) => team.schemas.add({ id: 'sales', name: 'Sales' }, noon),
      write: (team) => team.dataSources.add(sourceOf(team), noon),
    },
    'a data source changed': {
      before: withSource,
      write: (team) => team.dataSources.update(sourceOf(team).id, { name: 'E' }, noon),
    },
    'a data source deleted': { before: withSource, write: (team) => team.dataSources.delete(sourceOf(team).id, noon) },
    'a group changed': {
      before: (team) => team.make('acme'),
      write: (team) => team.userGroups.update('acme', { providedId: 'acme-2' }, noon),
    },
    'a group deleted': { before: (team) => team.make('acme'), write: (team) => team.userGroups.delete('acme', noon) },
  }

  function sourceOf({ teamId }: TestTeam): NewDataSource {
    return {
      id: `source-${teamId}`,
      providedId: null,
      schemaId: 'sales',
      name: 'EU',
      kind: 'postgres',
      connection: null,
    }
  }

  async function withSource(team: TestTeam): Promise<void> {
    await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
    await team.dataSources.add(sourceOf(team), noon)
  }

  for (const [name, { before, write }] of Object.entries(once))
    it(`is not done again: ${name}`, async () => {
      const team = await on.newTeam()
      await before?.(team)
      const events = (await team.trail()).length
      const teams = (await on.service.store.teams.list()).length
      next = 'lost'
      await assert.rejects(write(team), { code: 'unavailable' })
      assert.equal(next, undefined)
      const made = (await on.service.store.teams.list()).length - teams
      assert.equal((await team.trail()).length - events + made, 1, 'it was done, once')
    })

  /** Whether there is a commit behind the one that made or changed the group: where that was to wait for a standby, both do. */
  async function isCommittedBehind({ teamId }: TestTeam): Promise<boolean> {
    const [row] = await on.sql(`
      select p.xmin <> g.xmin as behind from event_position p join user_group g on g.team_id = p.team_id
      where g.team_id = ${teamId}`)
    return row?.behind === true
  }

  for (const fate of ['lost', 'late'] as const)
    it(`is recognised by a create and a rotation when it is ${fate}`, async () => {
      const team = await on.newTeam()
      next = fate
      const { created, token } = await team.make('acme')
      assert.equal(created, true)
      assert.equal(await isCommittedBehind(team), true)
      next = fate
      const fresh = await team.rotate(token)
      assert.equal(next, undefined)
      assert.equal(await isCommittedBehind(team), true)
      assert.equal((await team.verify(fresh))?.group.providedId, 'acme')
      assert.deepEqual(await team.trail(), ['user_group.created acme', 'user_group.token_rotated acme'])
    })

  it('is recognised by an import', async () => {
    const team = await on.newTeam()
    next = 'lost'
    const wish = { providedId: 'acme', brought: undefined, make: () => ({ ...team.wish('acme'), disabled: false }) }
    assert.deepEqual(await team.userGroups.importBatch([wish], noon), ['created'])
    assert.equal(await isCommittedBehind(team), true)
    assert.deepEqual(await team.trail(), ['user_group.created acme'])
  })

  it('is followed by no other when it is answered', async () => {
    const team = await on.newTeam()
    await team.make('acme')
    await team.make('acme')
    assert.equal(await isCommittedBehind(team), false)
  })
})
