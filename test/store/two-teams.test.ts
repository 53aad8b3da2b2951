import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { inspect } from 'node:util'
import type { TeamStore } from '../../src/store/store.ts'
import { allRows } from '../support/all-rows.ts'
import { engines } from '../support/engines.ts'
import { firstPage, storeOn, type TestTeam } from '../support/store.ts'
import { attacks, furnish, type Theirs } from './attacks.ts'

for (const engine of engines)
  describe(`a team reaching for what another team has in ${engine.name}`, () => {
    const on = storeOn(engine)
    let theirs: Theirs
    let theirRows: string[]
    before(async () => {
      theirs = await furnish(on)
      theirRows = await allRows(on.database.environment)
      assert.ok(theirRows.length > 10)
    })

    it('is tried with every method there is', () => {
      const team = on.service.store.forTeam(theirs.teamId, null)
      const parts = Object.getOwnPropertyNames(Object.getPrototypeOf(team)).filter((name) => name !== 'constructor')
      const methods = parts.flatMap((part) => {
        const own = Object.getOwnPropertyNames(Object.getPrototypeOf(team[part as keyof TeamStore]))
        return own.filter((name) => name !== 'constructor').map((name) => `${part}.${name}`)
      })
      const message =
        'Add an attack to test/store/attacks.ts for each method of a team: how might it reach another team?'
      assert.deepEqual(methods.sort(), Object.keys(attacks).sort(), message)
    })

    for (const [method, tries] of Object.entries(attacks))
      for (const [index, attack] of tries.entries())
        it(`sees, changes and learns nothing by ${method}${tries.length > 1 ? `, way ${index + 1}` : ''}`, async () => {
          const ours = await on.newTeam()
          await attack(ours, theirs, on)
          const after = new Set(await allRows(on.database.environment))
          for (const row of theirRows) assert.ok(after.has(row), `this row was changed or deleted: ${row}`)
          const added = [...after].filter((row) => !theirRows.includes(row))
          for (const row of added)
            assert.doesNotMatch(row, new RegExp(`"team_id":"?${theirs.teamId}\\b`), 'a row was added')
          const [shown, trail] = [inspect(await everything(ours), { depth: 9 }), await ours.trail()]
          assert.equal(`${shown}${trail}`.includes(theirs.mark), false, shown)
        })
  })

/** All that a team can see of itself. */
async function everything(team: TestTeam): Promise<unknown[]> {
  const { userGroups, schemas, dataSources, apiTokens, events, settings } = team
  const groups = userGroups.list({ after: 0, limit: 200 })
  return Promise.all([
    groups,
    schemas.list(firstPage),
    dataSources.list(firstPage),
    apiTokens.all(),
    events.list({ limit: 1_000 }),
    settings.get(),
  ])
}
