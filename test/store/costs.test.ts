import assert from 'node:assert/strict'
import { it } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import { openStore } from '../../src/store/open.ts'
import { endFormer } from '../../src/store/user-group-statements.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'

it('a rotation looks at the former tokens in grace only, however many there were before', async (t) => {
  const [sqlite] = engines
  assert.equal(sqlite?.name, 'SQLite')
  const { environment, remove } = await sqlite.freshDatabase()
  t.after(remove)
  await (await openStore(readConfig(environment).database, { clock: systemClock })).close()
  const plan = await rawSql(environment, `explain query plan ${endFormer.text}`)
  assert.deepEqual(
    plan.map(({ detail }) => detail),
    ['SEARCH former_token USING INDEX former_token_in_grace (user_group_id=?)'],
  )
})
