import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { noon, storeOn, type TestTeam } from '../support/store.ts'

const [, postgres = assert.fail()] = engines

const rawStatement = `
  const client = new (require('pg').Client)({ connectionString: process.argv[1] })
  client.connect().then(() => client.query(process.argv[2])).then(() => client.end())`

describe('a rotation on PostgreSQL that another overtakes between its reading and its writing', () => {
  const on = storeOn(postgres)

  /** The new token is sealed between the two; nothing of this process goes on while another changes the database. */
  async function overtaken(team: TestTeam, token: string, statement: string) {
    const { tokens, store } = on.service
    const fresh = tokens.mintForUserGroup()
    const seal = (groupId: number) => {
      const { DATABASE_URL } = on.database.environment
      const { status, stderr } = spawnSync(process.execPath, ['-e', rawStatement, DATABASE_URL, statement])
      assert.equal(status, 0, stderr.toString())
      return tokens.sealToken(fresh, team.teamId, groupId)
    }
    const { userGroups } = store.forTeam(team.teamId, 'tests')
    const group = await userGroups.replaceToken(tokens.hash(token), { seal, graceSeconds: 0 }, noon)
    assert.equal(tokens.openToken(group), fresh)
    return group
  }

  it('answers and records what the group is called by then', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const rename = `update user_group set provided_id = 'renamed', name = 'Renamed' where team_id = ${team.teamId}`
    const { providedId, name } = await overtaken(team, token, rename)
    assert.deepEqual([providedId, name], ['renamed', 'Renamed'])
    assert.equal((await team.trail()).at(-1), 'user_group.token_rotated renamed')
  })

  it('finds no token where the group was deleted', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const gone = overtaken(team, token, `delete from user_group where team_id = ${team.teamId}`)
    await assert.rejects(gone, { code: 'token_not_found' })
    assert.deepEqual(await team.trail(), ['user_group.created acme'])
  })
})
