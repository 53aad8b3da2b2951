import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { type Engine, engines, newMasterKey } from '../support/engines.ts'
import { createPostgres, type PostgresServer } from '../support/postgres-server.ts'
import { Premises } from '../support/premises.ts'
import { times } from '../support/times.ts'
import { Team } from './team.ts'

const rounds = 15
/** Behind a change PostgreSQL is not asked for its version for a while; then an answer is kept, and given the next time. */
const untilRemembered = 20

// Other tests commit on the server they share, and on PostgreSQL that is reason enough to forget everything.
describe('what a process remembers of a PostgreSQL server on which nobody else writes', () => {
  let server: PostgresServer
  let premises: Premises
  let acting: Team
  let asked: Team
  before(async () => {
    server = await createPostgres({ autovacuum: 'off' })
    await server.start()
    const environment = { DATABASE_URL: server.url, UGS_MASTER_KEY: newMasterKey() }
    const [, { name } = assert.fail()] = engines
    const alone: Engine = { name, freshDatabase: async () => ({ environment, folder: undefined, async remove() {} }) }
    premises = await Premises.open(undefined, alone)
    const services = await premises.startAtOnce(2)
    ;[acting = assert.fail(), asked = assert.fail()] = services.map(({ caller }) => new Team(caller))
  })
  after(async () => {
    await premises.close()
    await server.remove()
  })

  const verdicts = async (token: string) => {
    const bodies = []
    for (const _ of Array(untilRemembered)) bodies.push((await asked.verify(token)).body)
    return [...new Set(bodies.map(({ active, reason }) => reason ?? active))]
  }

  it('is answered while nobody can read it', async (t) => {
    const { token } = await acting.newGroup('read once')
    await verdicts(token)
    const locker = new pg.Client({ connectionString: server.url })
    await locker.connect()
    t.after(() => locker.end())
    await locker.query('begin')
    await locker.query('lock table user_group, api_token in access exclusive mode')
    assert.deepEqual(await verdicts(token), [true])
    await locker.query('rollback')
  })

  it(`is gone with the next change that another acknowledges: ${rounds} rotations, and as many groups disabled`, async () => {
    for (const id of times(rounds, (round) => `changed ${round}`)) {
      const { token } = await acting.newGroup(id)
      assert.deepEqual(await verdicts(token), [true], id)
      const fresh = await acting.rotated(token)
      assert.deepEqual(await verdicts(token), ['rotated'], id)
      assert.deepEqual(await verdicts(fresh), [true], id)
      await acting.change(id, { disabled: true })
      assert.deepEqual(await verdicts(fresh), ['disabled'], id)
    }
  })

  it(`lets no API token in that another has revoked: ${rounds} of them`, async () => {
    const { token } = await acting.newGroup('opened')
    for (const name of times(rounds, (round) => `revoked ${round}`)) {
      const { body } = await acting.makeApiToken({ name, scopes: ['verify'] })
      const verifier = asked.as(body.api_token.token)
      for (const _ of Array(untilRemembered)) assert.equal((await verifier.verify(token)).body.active, true, name)
      await acting.revoke(body.api_token.id)
      assert.equal((await verifier.verify(token)).status, 401, name)
    }
  })
})
