import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { systemClock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import type { Row, Statement } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { dialect } from '../../src/store/sqlite-dialect.ts'
import * as statements from '../../src/store/user-group-statements.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { watched } from '../support/round-trips.ts'
import { nobodysToken, noon, storeOn } from '../support/store.ts'

describe('SQLite', () => {
  const plans = async (t: TestContext) => {
    const [sqlite] = engines
    assert.equal(sqlite?.name, 'SQLite')
    const { environment, remove } = await sqlite.freshDatabase()
    t.after(remove)
    await (await openStore(readConfig(environment).database, { clock: systemClock })).close()
    return async (statement: Statement<Row>) => {
      const steps = await rawSql(environment, `explain query plan ${dialect(statement)}`)
      return steps.map(({ detail }) => String(detail))
    }
  }

  it('looks at the former tokens in grace only for a rotation, however many there were before', async (t) => {
    const planOf = await plans(t)
    const searches = async (statement: Statement<Row>) =>
      (await planOf(statement)).filter((step) => step.startsWith('SEARCH'))
    const inGrace = 'USING INDEX former_token_in_grace (user_group_id=?)'
    assert.deepEqual(await searches(statements.endFormer), [`SEARCH former_token ${inGrace}`])
    assert.deepEqual(await searches(statements.ownerOfToken), [
      'SEARCH g USING INTEGER PRIMARY KEY (rowid=?)',
      'SEARCH token USING PRIMARY KEY (hash=?)',
      `SEARCH f ${inGrace}`,
    ])
  })

  const on = storeOn(engines[0] ?? assert.fail())

  it('keeps no row to find a token that leads to its group, and one for every other', async () => {
    const team = await on.newTeam()
    const count = async () => Number((await on.sql('select count(*) as count from token'))[0]?.count)
    const { token } = await team.make('acme')
    await team.rotate(await team.rotate(token, 60))
    await team.userGroups.delete('acme', noon)
    assert.equal(await count(), 0)
    const { id } = team.wish('')
    const brought = on.service.tokens.sealToken('a-token-from-another-system', team.teamId, id)
    await team.make('globex', { id, token: brought })
    await team.rotate('a-token-from-another-system')
    assert.equal(await count(), 1)
    await team.userGroups.delete('globex', noon)
    assert.equal(await count(), 0)
  })

  it('goes through no table for a token, current or former', async (t) => {
    const planOf = await plans(t)
    const { otherOwner, verifyCurrent, verifyOther, verifyMappedCurrent, verifyMappedOther, forgetFormer } = statements
    for (const statement of [
      otherOwner,
      verifyCurrent,
      verifyOther,
      verifyMappedCurrent,
      verifyMappedOther,
      forgetFormer,
    ])
      assert.deepEqual(
        (await planOf(statement)).filter((step) => /^SCAN (?!rotation|CONSTANT)/.test(step)),
        [],
        statement.text,
      )
  })
})

describe('how often the service waits for PostgreSQL', () => {
  const [, postgres = assert.fail()] = engines
  const engine = watched(postgres)
  const on = storeOn(engine)

  it('is once for an answer and once for the commit, whatever else is written down on the way', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('warm up')
    await team.rotate(token)
    const cost = async (work: () => Promise<unknown>) => {
      const before = engine.roundTrips()
      await work()
      return engine.roundTrips() - before
    }
    const made = await team.make('another')
    assert.deepEqual(
      {
        'to look one up': await cost(() => team.userGroups.find('another')),
        'to verify': await cost(() => team.verify(made.token)),
        'to verify what nobody has': await cost(() => team.verify(nobodysToken(on.service))),
        'to create': await cost(() => team.make('acme')),
        'to rotate': await cost(() => team.rotate(made.token)),
        'to change': await cost(() => team.userGroups.update('acme', { name: 'Acme' }, noon)),
        'to delete': await cost(() => team.userGroups.delete('acme', noon)),
      },
      {
        'to look one up': 1,
        'to verify': 1,
        'to verify what nobody has': 2,
        'to create': 2,
        'to rotate': 2,
        'to change': 2,
        'to delete': 2,
      },
    )
  })
})
