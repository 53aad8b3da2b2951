import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/config.ts'
import type { ServiceError } from '../../src/errors.ts'
import { newId } from '../../src/ids.ts'
import { openService } from '../../src/service.ts'
import { engines, newMasterKey } from '../support/engines.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { onPostgres } from '../support/postgres-client.ts'
import { noon, type StoreOnTest, storeOn, type TestTeam, teamOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const [, postgres = assert.fail()] = engines

const mapping = { sales: 'db' }

/** In which this mapping is allowed. */
async function strictTeam(on: StoreOnTest): Promise<TestTeam> {
  const team = await on.newTeam()
  await team.schemas.add({ id: 'sales', name: 'Sales' }, noon)
  const source = {
    id: newId(noon).toString(),
    schemaId: 'sales',
    providedId: 'db',
    name: 'DB',
    kind: null,
    connection: null,
  }
  await team.dataSources.add(source, noon)
  await team.settings.update({ strictMapping: true }, noon)
  return team
}

describe('processes that create groups of the same two teams on PostgreSQL', () => {
  const on = storeOn(postgres)

  it('do not deadlock where one of the teams is strict about its mappings', async (t) => {
    const other = await openService(readConfig(on.database.environment))
    t.after(() => other.store.close())
    const [first, strict] = [await on.newTeam(), await strictTeam(on)]
    await first.make('there')
    const commits = () => on.service.store.stats().commits + other.store.stats().commits
    const before = commits()
    await onPostgres(on.database.environment.DATABASE_URL, async (third) => {
      await third.query('begin')
      await third.query('update event_position set last = last where team_id = $1', [first.teamId])
      const plain = [first, strict].map(({ teamId }) => teamOn(other, teamId, 'tests').make('plain'))
      await lockWaits(on, 1)
      const mapped = [strict.make('mapped', { mapping }), first.make('beside it')]
      await lockWaits(on, 2)
      await third.query('rollback')
      await Promise.all([...plain, ...mapped])
    })
    assert.equal(commits() - before, 2, 'they could not go together')
  })
})

describe('a process that imports what another creates, in a team that is strict about its mappings, on PostgreSQL', () => {
  const on = storeOn(postgres)

  const imported = ({ userGroups, wish }: TestTeam, providedId: string) =>
    userGroups.importBatch(
      [{ providedId, brought: undefined, make: () => ({ ...wish(providedId, { mapping }), disabled: false }) }],
      noon,
    )

  it('does not deadlock with it', async (t) => {
    const other = await openService(readConfig(on.database.environment))
    t.after(() => other.store.close())
    const team = await strictTeam(on)
    const sameTeam = teamOn(other, team.teamId, 'tests')
    const commits = () => on.service.store.stats().commits + other.store.stats().commits
    const before = commits()
    await onPostgres(on.database.environment.DATABASE_URL, async (third) => {
      await third.query('begin')
      await third.query('update event_position set last = last where team_id = $1', [team.teamId])
      const importing = imported(team, 'both')
      await lockWaits(on, 1)
      const creating = ['both', 'one'].map((providedId) => sameTeam.make(providedId, { mapping }))
      await lockWaits(on, 2)
      await third.query('rollback')
      assert.deepEqual(await importing, ['created'])
      assert.deepEqual(
        (await Promise.all(creating)).map(({ created }) => created),
        [false, true],
      )
    })
    assert.equal(commits() - before, 2, 'they could not go together')
  })

  it('imports no group whose data source is deleted meanwhile', async () => {
    const team = await strictTeam(on)
    await onPostgres(on.database.environment.DATABASE_URL, async (third) => {
      await third.query('begin')
      await third.query('update event_position set last = last where team_id = $1', [team.teamId])
      const importing = imported(team, 'late')
      await lockWaits(on, 1)
      await third.query('delete from data_source where team_id = $1', [team.teamId])
      await third.query('commit')
      const [refusal] = await importing
      assert.equal((refusal as ServiceError).code, 'unknown_data_source')
    })
    assert.equal(await team.userGroups.get('late'), undefined)
  })
})

describe('processes that create the same group and rotate the same token on PostgreSQL', () => {
  const on = storeOn(postgres)

  /** Whoever waits for a group of that id waits until all do, and then there is none. */
  async function allAtOnce(team: TestTeam, providedId: string, works: () => Promise<unknown>[]) {
    return onPostgres(on.database.environment.DATABASE_URL, async (third) => {
      const { id, token } = team.wish(providedId)
      await third.query('begin')
      await third.query(
        `insert into user_group (id, team_id, provided_id, name, token_hash, token_sealed, token_key, disabled,
          created_at, updated_at, mapping, properties) values ($1, $2, $3, '', $4, $5, $6, 0, 0, 0, '{}', '{}')`,
        [id, team.teamId, providedId, token.hash, token.bytes, token.keyId],
      )
      const done = Promise.allSettled(works())
      await lockWaits(on, 2)
      await third.query('rollback')
      return done
    })
  }

  it('do not deadlock, whatever else each does in the same transaction', async (t) => {
    const other = await openService(readConfig(on.database.environment))
    t.after(() => other.store.close())
    const team = await on.newTeam()
    const sameTeam = teamOn(other, team.teamId, 'tests')
    const commits = () => on.service.store.stats().commits + other.store.stats().commits
    // Whoever is first when both go on is left to chance.
    for (let round = 0; round < 8; round++) {
      const { token } = await team.make(`rotated by both ${round}`)
      const { token: own } = await team.make(`rotated by one ${round}`)
      const before = commits()
      const outcomes = await allAtOnce(team, `~ ${round}`, () => [
        // The first sorts before all tokens, the second behind.
        ...[team.make(`! ${round}`), team.make(`~ ${round}`), team.rotate(token)],
        ...[sameTeam.rotate(own), sameTeam.rotate(token), sameTeam.make(`~ ${round}`)],
      ])
      const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
      assert.deepEqual(refused, ['token_already_rotated'])
      assert.equal(commits() - before, 2, 'they could not go together')
    }
  })
})

describe('a process that seals tokens anew while another rotates them on PostgreSQL', () => {
  const on = storeOn(postgres)

  it('does not deadlock with it, in whatever order the groups were made', async (t) => {
    const { environment } = on.database
    const keys = `${newMasterKey()},${environment.UGS_MASTER_KEY}`
    const other = await openService(readConfig({ ...environment, UGS_MASTER_KEY: keys }), { bringsKey: true })
    t.after(() => other.store.close())
    const team = await on.newTeam()
    const hashes = times(3, () => randomBytes(32))
      .sort(Buffer.compare)
      .reverse()
    const imported = await team.userGroups.importBatch(
      hashes.map((hash, index) => {
        const wish = team.wish(`group ${index}`)
        return {
          providedId: wish.providedId,
          brought: undefined,
          make: () => ({ ...wish, disabled: false, token: { ...wish.token, hash } }),
        }
      }),
      noon,
    )
    assert.deepEqual(imported, ['created', 'created', 'created'])
    const sealed = await other.store.keys.sealedByOthers('user_group.token', other.tokens.newestKeyId, 0, 10)
    const anew = sealed.map((row) => ({ ...row, fresh: other.tokens.seal(other.tokens.open(row.sealed, row), row) }))
    const seal = (groupId: number) => team.wish('', { id: groupId }).token
    const commits = () => on.service.store.stats().commits + other.store.stats().commits
    const before = commits()
    await onPostgres(environment.DATABASE_URL, async (third) => {
      await third.query('begin')
      await third.query('select from user_group where token_hash = $1 for update', [hashes[1]])
      const resealed = other.store.keys.reseal(anew)
      await lockWaits(on, 1)
      const rotated = hashes.map((hash) =>
        team.userGroups.replaceToken({ groupId: null, hash, longHash: () => hash }, { seal, graceSeconds: 0 }, noon),
      )
      await lockWaits(on, 2)
      await third.query('rollback')
      assert.equal(await resealed, 3)
      await Promise.all(rotated)
    })
    assert.equal(commits() - before, 2, 'they could not go together')
  })
})
