import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { noon, storeOn } from '../support/store.ts'

const groups = 24_000

for (const engine of engines)
  describe(`a list of ${groups} user groups in ${engine.name}`, () => {
    const on = storeOn(engine)

    it('is walked by a common beginning without skipping or repeating one, however far apart they are', async () => {
      const [team, strangers] = [await on.newTeam(), await on.newTeam()]
      const numbers = engine.name === 'SQLite' ? series : `select i from generate_series(1, ${groups}) as series (i)`
      const hash = engine.name === 'SQLite' ? "cast('h' || i as blob)" : "convert_to('h' || i, 'UTF8')"
      // One match in a hundred over three quarters, so that a page reaches over more than one stretch; then every one.
      const name = `case when i % 100 = 0 or i > ${groups * 0.75} then 'Match ' else 'Other ' end || i`
      const teamId = `case when i % 7 = 0 then ${strangers.teamId} else ${team.teamId} end`
      await on.sql(`insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled,
          created_at, updated_at, mapping, properties)
        select i, ${teamId}, 'g' || i, ${name}, ${hash}, ${hash}, (select id from master_key), 0, ${noon}, ${noon}, '{}', '{}'
        from (${numbers}) as numbers`)

      const seen: number[] = []
      for (let after: number | null = 0; after !== null; ) {
        const page = await team.userGroups.list({ after, limit: 200, prefix: 'mATCH' })
        seen.push(...page.items.map(({ providedId }) => Number(providedId.slice(1))))
        after = page.next
      }
      const expected = Array.from({ length: groups }, (_, index) => index + 1).filter(
        (i) => (i % 100 === 0 || i > groups * 0.75) && i % 7 !== 0,
      )
      assert.deepEqual(seen, expected)
      assert.equal((await team.userGroups.list({ after: groups, limit: 5, prefix: 'match' })).items.length, 0)
    })
  })

const series = `with recursive series (i) as (select 1 union all select i + 1 from series where i < ${groups}) select i from series`
