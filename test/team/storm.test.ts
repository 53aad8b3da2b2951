import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Answer } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { times } from '../support/times.ts'
import { at, Team } from './team.ts'

const callers = 12
const callsEach = 60
const names = ['a', 'b', 'c', 'd']

type Act = (team: Team, name: string, other: string) => Promise<Answer>

/** Everything a team can do to its things, under names so few that the calls meet. */
const acts: readonly Act[] = [
  (team, name) => team.getOrCreate(name),
  (team, name, other) => team.getOrCreate(name, { mapping: { x: other, y: name }, properties: { name } }),
  (team, name, other) => team.change(name, { mapping: { x: other } }),
  (team, name) => team.change(name, { mapping: {}, disabled: false }),
  (team, name, other) => team.change(name, { provided_id: other }),
  (team, name) => team.change(name, { name: 'New', disabled: true }),
  (team, name) => team.remove(name),
  async (team, name) => {
    const { token } = (await team.getOrCreate(name)).body.user_group
    return team.rotate(token, 60)
  },
  async (team, name) => {
    const { token } = (await team.getOrCreate(name)).body.user_group
    return team.verify(token)
  },
  (team, name) => team.makeSchema({ id: name }),
  (team, name) => team.send('DELETE', at('schemas', name)),
  (team, name, other) => team.makeDataSource({ schema_id: other, provided_id: name, connection: { name } }),
  (team, name, other) => team.send('PATCH', at('data_sources', name), { schema_id: other, name: 'New' }),
  (team, name, other) => team.send('PATCH', at('data_sources', name), { provided_id: other }),
  (team, name) => team.send('DELETE', at('data_sources', name)),
  (team) => team.page({ q: 'a' }),
  (team) => team.send('GET', '/api/data_sources'),
]

for (const engine of engines)
  describe(`everything at once on ${engine.name}`, () => {
    let premises: Premises
    let teams: Team[]
    before(async () => {
      premises = await Premises.open(undefined, engine)
      teams = (await premises.startAtOnce(2)).map(({ caller }) => new Team(caller))
    })
    after(() => premises.close())

    // Strict first: what is stored without would not stand up to it.
    for (const strict of [true, false])
      it(`gets a sensible answer for every call, with strict mapping ${strict ? 'on' : 'off'}, and leaves what the audit trail tells`, async () => {
        await teams[0]?.send('PATCH', '/api/team', { strict_mapping: strict })
        const lane = async (caller: number) => {
          const random = dice(caller)
          const failures: string[] = []
          for (let i = 0; i < callsEach; i++) {
            const act = acts[random(acts.length)] as Act
            const answer = await act(teams[caller % 2] as Team, `${names[random(4)]}`, `${names[random(4)]}`)
            if (answer.status >= 500) failures.push(`${answer.status} ${answer.body.error.code}: ${act}`)
          }
          return failures
        }
        const failures = (await Promise.all(times(callers, lane))).flat()
        await assertConsistent(teams[0] as Team, strict)
        assert.deepEqual(failures, [])
      })
  })

async function assertConsistent(team: Team, strict: boolean): Promise<void> {
  const list = async (name: string) => (await team.send('GET', `/api/${name}`)).body[name]
  const [groups, schemas, sources] = [await list('user_groups'), await list('schemas'), await list('data_sources')]
  const schemaIds = schemas.map(({ id }: { id: string }) => id)
  for (const source of sources) assert.ok(schemaIds.includes(source.schema_id), 'a data source has its schema')
  const known = sources.flatMap(({ id, provided_id }: { id: string; provided_id: string }) => [id, provided_id])
  for (const { provided_id, mapping, disabled } of groups) {
    if (strict)
      for (const value of Object.values(mapping)) assert.ok(known.includes(value), `${value} is a data source`)
    const { token } = (await team.getOrCreate(provided_id)).body.user_group
    assert.equal((await team.verify(token)).body.active, !disabled)
  }
  const told = { user_group: new Set<unknown>(), schema: new Set<unknown>(), data_source: new Set<unknown>() }
  for (const event of await team.trail())
    for (const [thing, there] of Object.entries(told)) {
      if (event.kind === `${thing}.created`) there.add(event[thing])
      if (event.kind === `${thing}.deleted`)
        assert.ok(there.delete(event[thing]), `${event[thing]} was there to delete`)
      if (event.renamed_to !== undefined && event.user_group !== undefined && thing === 'user_group') {
        there.delete(event.user_group)
        there.add(event.renamed_to)
      }
    }
  const idsOf = (things: { id: string; provided_id: string }[], key: 'id' | 'provided_id') =>
    things.map((thing) => thing[key]).sort()
  assert.deepEqual([...told.user_group].sort(), idsOf(groups, 'provided_id'))
  assert.deepEqual([...told.schema].sort(), idsOf(schemas, 'id'))
  assert.deepEqual([...told.data_source].sort(), idsOf(sources, 'id'))
}

/** The same throws in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}
