import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/store/database.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { ListQuery, Page } from '../../src/store/store.ts'
import { listUserGroups } from '../../src/store/user-group-list.ts'
import type { UserGroupRecord } from '../../src/user-groups/user-group.ts'
import { engines } from '../support/engines.ts'
import { noon, storeOn, type TestTeam } from '../support/store.ts'

const groups = 24_000

for (const engine of engines)
  describe(`a list of ${groups} user groups in ${engine.name}`, () => {
    const on = storeOn(engine)
    let team: TestTeam

    before(async () => {
      team = await on.newTeam()
      const strangers = await on.newTeam()
      const numbers = engine.name === 'SQLite' ? series : `select i from generate_series(1, ${groups}) as series (i)`
      const hash = engine.name === 'SQLite' ? "cast('h' || i as blob)" : "convert_to('h' || i, 'UTF8')"
      // One match in a hundred over three quarters, so that a page reaches over more than one stretch; then every one.
      const name = `case when i % 100 = 0 or i > ${groups * 0.75} then 'Match ' else 'Other ' end || i`
      const teamId = `case when i % 7 = 0 then ${strangers.teamId} else ${team.teamId} end`
      await on.sql(`insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled,
          created_at, updated_at, mapping, properties)
        select i, ${teamId}, 'g' || i, ${name}, ${hash}, ${hash}, (select id from master_key), 0, ${noon}, ${noon}, '{}', '{}'
        from (${numbers}) as numbers`)
    })

    it('is walked by a common beginning without skipping or repeating one, however far apart they are', async () => {
      assert.deepEqual(await walk((query) => team.userGroups.list({ ...query, prefix: 'mATCH' })), matches)
      assert.equal((await team.userGroups.list({ after: groups, limit: 5, prefix: 'match' })).items.length, 0)
    })

    it('is walked without skipping one while others are deleted', async (t) => {
      const { database: at } = readConfig(on.database.environment)
      const database = at.engine === 'sqlite' ? openSqlite(at.path) : await openPostgres(at.url)
      t.after(() => database.close())
      let deleted = 0
      const meanwhile = {
        async read(...question: Parameters<Database['read']>) {
          const rows = await database.read(...question)
          await on.sql(`delete from user_group where id > ${deleted} and id <= ${deleted + 500} and name like 'Other%'`)
          deleted += 500
          return rows
        },
      } as Database
      assert.deepEqual(
        await walk((query) => listUserGroups(meanwhile, team.teamId, { ...query, prefix: 'match' })),
        matches,
      )
      assert.ok(deleted >= groups * 0.75)
    })
  })

const matches = Array.from({ length: groups }, (_, index) => index + 1).filter(
  (i) => (i % 100 === 0 || i > groups * 0.75) && i % 7 !== 0,
)

async function walk(list: (query: ListQuery) => Promise<Page<UserGroupRecord>>): Promise<number[]> {
  const seen: number[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page = await list({ after, limit: 200 })
    seen.push(...page.items.map(({ providedId }) => Number(providedId.slice(1))))
    after = page.next
  }
  return seen
}

const series = `with recursive series (i) as (select 1 union all select i + 1 from series where i < ${groups}) select i from series`
