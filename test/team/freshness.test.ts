import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { Premises } from '../support/premises.ts'
import { times } from '../support/times.ts'
import { Team } from './team.ts'

const rounds = 80
const atOnce = 4

for (const engine of engines)
  describe(`what one process has acknowledged on ${engine.name}`, () => {
    let premises: Premises
    let teams: Team[]
    before(async () => {
      premises = await Premises.open(undefined, engine)
      teams = (await premises.startAtOnce(2)).map(({ caller }) => new Team(caller))
    })
    after(() => premises.close())

    /** The one that acts and the one that is asked; they change places, and some rounds run at the same time. */
    const everyRound = async (
      play: (acting: Team, asked: Team, id: string) => Promise<void>,
      name: string,
      count = rounds,
    ) => {
      const lane = async (first: number) => {
        for (let round = first; round < count; round += atOnce)
          await play(pick(teams, round), pick(teams, round + 1), `${name} ${round}`)
      }
      await Promise.all(times(atOnce, lane))
    }
    /** First a look, so that a process that remembers answers has one to be wrong with. */
    const assertActive = async (asked: Team, token: string) => {
      const { body } = await asked.verify(token)
      assert.equal(body.active, true, JSON.stringify(body))
    }
    const assertEnded = async (asked: Team, token: string, reason: string, id: string) =>
      assert.deepEqual((await asked.verify(token)).body, { success: 1, active: false, reason }, id)

    it(`is seen by the next verification on the other: ${rounds} times disabled, enabled, rotated and deleted`, () =>
      everyRound(async (acting, asked, id) => {
        const { token } = await acting.newGroup(id)
        await assertActive(asked, token)
        await acting.change(id, { disabled: true })
        await assertEnded(asked, token, 'disabled', id)
        await acting.change(id, { disabled: false })
        await assertActive(asked, token)
        const fresh = await acting.rotated(token)
        await assertEnded(asked, token, 'rotated', id)
        await assertActive(asked, fresh)
        await acting.remove(id)
        await assertEnded(asked, fresh, 'unknown', id)
      }, 'ended'))

    it(`is seen by the next look-up and verification on the same: ${rounds} times rotated, with grace and without`, () =>
      everyRound(async (acting, _, id) => {
        const { token } = await acting.newGroup(id)
        const assertCurrent = async (current: string) => {
          assert.equal((await acting.getOrCreate(id)).body.user_group.token, current, id)
          await assertActive(acting, current)
        }
        await assertCurrent(token)
        const second = await acting.rotated(token)
        await assertEnded(acting, token, 'rotated', id)
        await assertCurrent(second)
        const third = await acting.rotated(second, 3600)
        await assertActive(acting, second)
        await assertCurrent(third)
        const last = await acting.rotated(third)
        for (const ended of [second, third]) await assertEnded(acting, ended, 'rotated', id)
        await assertCurrent(last)
      }, 'rotated'))

    it('is seen by the next verification on the other: 20 graces cut short', () =>
      everyRound(
        async (acting, asked, id) => {
          const { token } = await acting.newGroup(id)
          const second = await acting.rotated(token, 3600)
          await assertActive(asked, token)
          await acting.rotated(second)
          await assertEnded(asked, token, 'rotated', id)
        },
        'graced',
        20,
      ))

    it(`is seen by the next request on the other: ${rounds} API tokens made and revoked`, () =>
      everyRound(async (acting, asked, id) => {
        const { body } = await acting.makeApiToken({ name: id, scopes: ['verify'] })
        const verifier = asked.as(body.api_token.token)
        assert.equal((await verifier.verify('x')).status, 200, id)
        assert.equal((await acting.revoke(body.api_token.id)).status, 200)
        const refused = await verifier.verify('x')
        assert.equal(refused.status, 401, id)
        assert.equal(refused.body.error.code, 'invalid_api_token')
      }, 'revoked'))

    it(`keeps those out who were let in before: ${rounds} API tokens revoked, and nothing written with them`, () =>
      everyRound(async (acting, asked, id) => {
        const { body } = await acting.makeApiToken({ name: id, scopes: ['provision'] })
        const provisioner = asked.as(body.api_token.token)
        await provisioner.newGroup(id)
        assert.equal((await acting.revoke(body.api_token.id)).status, 200)
        const attempts = [provisioner.getOrCreate(`${id} late`), provisioner.getOrCreate(''), provisioner.remove(id)]
        for (const { status } of await Promise.all(attempts)) assert.equal(status, 401, id)
        assert.equal((await acting.group(`${id} late`)).status, 404)
        assert.equal((await acting.group(id)).status, 200)
      }, 'kept out'))

    it('is seen by the next verification on the other: 20 changes of mapping and data source', async () => {
      await pick(teams, 0).makeSchema({ id: 'sales' })
      await everyRound(
        async (acting, asked, id) => {
          const { token } = await acting.newGroup(id, { mapping: { sales: id } })
          assert.deepEqual((await asked.verify(token)).body.unresolved, ['sales'])
          const { body } = await acting.makeDataSource({ schema_id: 'sales', provided_id: id })
          assert.equal((await asked.verify(token)).body.data_sources.sales.id, body.data_source.id)
          await acting.change(id, { mapping: { other: id }, properties: { id } })
          const changed = (await asked.verify(token)).body
          assert.deepEqual(Object.keys(changed.data_sources), ['other'])
          assert.deepEqual(changed.properties, { id })
        },
        'mapped',
        20,
      )
    })

    it('is seen by the next request on the other: 20 times strict mapping on and off', async () => {
      for (let round = 0; round < 20; round++) {
        const [acting, asked] = [pick(teams, round), pick(teams, round + 1)]
        const wish = { mapping: { sales: 'nowhere' } }
        await acting.send('PATCH', '/api/team', { strict_mapping: true })
        assert.equal((await asked.getOrCreate(`strict ${round}`, wish)).status, 400)
        await acting.send('PATCH', '/api/team', { strict_mapping: false })
        assert.equal((await asked.getOrCreate(`strict ${round}`, wish)).status, 200)
      }
    })
  })

function pick(teams: readonly Team[], index: number): Team {
  return teams[index % teams.length] as Team
}
