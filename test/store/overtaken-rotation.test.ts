import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { onPostgres } from '../support/postgres-client.ts'
import { keyOf, noon, storeOn, type TestTeam } from '../support/store.ts'

const [, postgres = assert.fail()] = engines

describe('rotations on PostgreSQL that find their group being changed by another', () => {
  const on = storeOn(postgres)

  /** Both rotations are under way when the other commits; what each came to is `id name`, or why it failed. */
  async function overtaken(team: TestTeam, change: string): Promise<string[]> {
    const { tokens, store } = on.service
    const { userGroups } = store.forTeam(team.teamId, null)
    const made = [await team.make('acme'), await team.make('globex')]
    const rotate = async ({ token }: { token: string }) => {
      let fresh = ''
      const seal = (groupId: number) => {
        const minted = tokens.mintForUserGroup(team.teamId, groupId, noon)
        fresh = minted.token
        return minted.sealed
      }
      const group = await userGroups.replaceToken(keyOf(tokens, token), { seal, graceSeconds: 0 }, noon)
      assert.equal(tokens.openToken(group), fresh)
      assert.equal((await team.verify(fresh))?.group.providedId, group.providedId)
      return `${group.providedId} ${group.name}`
    }
    const outcomes = await onPostgres(on.database.environment.DATABASE_URL, async (other) => {
      await other.query('begin')
      await other.query(change)
      const rotations = Promise.all(made.map((one) => rotate(one).catch(({ code }) => code)))
      // They share a transaction.
      await lockWaits(on, 1)
      await other.query('commit')
      return rotations
    })
    return outcomes.toSorted()
  }

  const own = ({ teamId }: TestTeam) => `team_id = ${teamId} and provided_id = 'acme'`

  it('answer and record what it is called by then', async () => {
    const team = await on.newTeam()
    const rename = `update user_group set provided_id = 'renamed', name = 'Renamed' where ${own(team)}`
    assert.deepEqual(await overtaken(team, rename), ['globex globex', 'renamed Renamed'])
    const rotated = (await team.trail()).slice(2)
    assert.deepEqual(rotated.toSorted(), ['user_group.token_rotated globex', 'user_group.token_rotated renamed'])
  })

  it('find no token where it was deleted', async () => {
    const team = await on.newTeam()
    const outcomes = await overtaken(team, `delete from user_group where ${own(team)}`)
    assert.deepEqual(outcomes, ['globex globex', 'token_not_found'])
    assert.deepEqual((await team.trail()).slice(2), ['user_group.token_rotated globex'])
  })

  it('find the token rotated where another rotated it', async () => {
    const team = await on.newTeam()
    const outcomes = await overtaken(
      team,
      `with before as (select id, token_hash from user_group where ${own(team)}),
        replaced as (update user_group set token_hash = sha256(token_hash) where ${own(team)})
        insert into former_token (hash, user_group_id, rotated_at, valid_until)
        select token_hash, id, ${noon}, ${noon} from before`,
    )
    assert.deepEqual(outcomes, ['globex globex', 'token_already_rotated'])
    assert.deepEqual((await team.trail()).slice(2), ['user_group.token_rotated globex'])
  })
})
