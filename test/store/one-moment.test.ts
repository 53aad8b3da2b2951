import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { onPostgres } from '../support/postgres-client.ts'
import { noon, storeOn, type TestTeam } from '../support/store.ts'

const [, postgres = assert.fail()] = engines

describe('a verification on PostgreSQL during which others change what it reads', () => {
  const on = storeOn(postgres)

  async function acmeAndGlobex() {
    const team = await on.newTeam()
    await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
    for (const [name, providedId] of [
      ['acme', 'db-1'],
      ['globex', 'db-2'],
    ] as const)
      await team.dataSources.add(
        { id: `${name}_${team.teamId}`, providedId, schemaId: 'sales', name, kind: null, connection: null },
        noon,
      )
    const { token } = await team.make('acme', { mapping: { sales: 'db-1' } })
    return { team, token }
  }

  /** Commits the changes between the look at the group and that at its data sources. */
  async function overtaken({ teamId, verify }: TestTeam, token: string, ...changes: string[]) {
    return onPostgres(on.database.environment.DATABASE_URL, async (other) => {
      await other.query('begin; lock table data_source in access exclusive mode')
      const verifying = verify(token)
      await lockWaits(on, 1)
      for (const change of changes) await other.query(`${change.replaceAll('TEAM', String(teamId))}`)
      await other.query('commit')
      return verifying
    })
  }

  const handOver = [
    `update user_group set mapping = '{"sales":"acme_TEAM"}' where team_id = TEAM`,
    `update mapping_entry set data_source = 'acme_TEAM' where team_id = TEAM`,
    `update data_source set provided_id = 'db-1-old' where id = 'acme_TEAM'`,
    `update data_source set provided_id = 'db-1' where id = 'globex_TEAM'`,
  ]

  for (const graceSeconds of [undefined, 60])
    it(`opens no data source of another customer${graceSeconds ? ', by a former token in grace' : ''}`, async () => {
      const { team, token } = await acmeAndGlobex()
      if (graceSeconds) await team.rotate(token, graceSeconds)
      const { group, dataSources } = (await overtaken(team, token, ...handOver)) ?? assert.fail()
      assert.deepEqual(group.mapping, { sales: `acme_${team.teamId}` })
      assert.deepEqual(
        [...dataSources.values()].map(({ name }) => name),
        ['acme'],
      )
    })

  it('finds a token that is rotated meanwhile among the former ones', async () => {
    const { team, token } = await acmeAndGlobex()
    const verified = await overtaken(
      team,
      token,
      `insert into former_token (hash, user_group_id, rotated_at, valid_until)
        select token_hash, id, 1, 2 from user_group where team_id = TEAM`,
      `update user_group set token_hash = '\\x00' where team_id = TEAM`,
    )
    assert.deepEqual([verified?.validUntil, verified?.dataSources.size], [2, 1])
  })

  it('knows nothing of a token whose group is deleted meanwhile', async () => {
    const { team, token } = await acmeAndGlobex()
    assert.equal(await overtaken(team, token, 'delete from user_group where team_id = TEAM'), undefined)
  })
})
