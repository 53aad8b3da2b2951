import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError, assertRefused } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { type AuditEvent, anotherTeam, at, Team } from './team.ts'

for (const engine of engines)
  describe(`the audit trail on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const admin = new Team(caller)
    const others = await anotherTeam(caller, environment)
    const ci = await admin.makeApiToken({ name: 'ci', scopes: ['admin'] })
    const team = admin.as(ci.body.api_token.token)

    /** What a call wrote, when it was this API token that wrote it, just now. */
    const written = async (call: () => Promise<unknown>) => {
      const from = Date.now()
      const events = await team.eventsOf(call)
      return events.map(({ id, at: time, api_token, ...rest }) => {
        assert.ok(Number.isSafeInteger(id))
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.ok(Date.parse(time) >= from - 1 && Date.parse(time) <= Date.now(), time)
        assert.equal(api_token, 'ci')
        return rest
      })
    }

    it('tells the life of a user group', async () => {
      const id = randomUUID()
      const renamed = `${id}-2`
      const ofGroup = (kind: string, more = {}) => ({ kind: `user_group.${kind}`, user_group: id, ...more })
      let token = ''
      assert.deepEqual(
        await written(async () => {
          token = (await team.newGroup(id)).token
        }),
        [ofGroup('created')],
      )
      assert.deepEqual(await written(() => team.change(id, { name: 'New', disabled: true })), [ofGroup('updated')])
      assert.deepEqual(await written(() => team.change(id, { provided_id: id })), [ofGroup('updated')])
      assert.deepEqual(await written(() => team.rotated(token, 60)), [ofGroup('token_rotated')])
      const [rename] = await written(() => team.change(id, { provided_id: renamed }))
      assert.deepEqual(rename, ofGroup('updated', { renamed_to: renamed }))
      assert.deepEqual(await written(() => team.remove(renamed)), [{ ...ofGroup('deleted'), user_group: renamed }])
      const get = () => team.send('GET', '/api/user', { user_group_id: `${id}-3` })
      assert.deepEqual(await written(get), [{ kind: 'user_group.created', user_group: `${id}-3` }])
    })

    it('tells the life of a schema and a data source', async () => {
      const id = randomUUID()
      const schema = (kind: string) => [{ kind: `schema.${kind}`, schema: id }]
      assert.deepEqual(await written(() => team.makeSchema({ id })), schema('created'))
      let source = { id: '' }
      const [created] = await written(async () => {
        source = (await team.makeDataSource({ schema_id: id, provided_id: `${id} db` })).body.data_source
      })
      const path = at('data_sources', source.id)
      assert.deepEqual(created, { kind: 'data_source.created', data_source: source.id })
      for (const patch of [{ name: 'New' }, { connection: { password: 'x' } }]) {
        const [updated] = await written(() => team.send('PATCH', path, patch))
        assert.deepEqual(updated, { kind: 'data_source.updated', data_source: source.id })
      }
      const [deleted] = await written(() => team.send('DELETE', path))
      assert.deepEqual(deleted, { kind: 'data_source.deleted', data_source: source.id })
      assert.deepEqual(await written(() => team.send('DELETE', at('schemas', id))), schema('deleted'))
    })

    it('tells the life of an API token and the changes of the team', async () => {
      let made = { id: 0 }
      const [created] = await written(async () => {
        made = (await team.makeApiToken({ name: 'short-lived', scopes: ['verify'] })).body.api_token
      })
      assert.deepEqual(created, { kind: 'api_token.created', api_token_id: made.id })
      const [revoked] = await written(() => team.revoke(made.id))
      assert.deepEqual(revoked, { kind: 'api_token.revoked', api_token_id: made.id })
      const [updated, ...more] = await written(() => team.send('PATCH', '/api/team', { name: 'Renamed' }))
      assert.deepEqual([updated?.kind, more], ['team.updated', []])
    })

    it('names the one who did it, also after that API token is gone', async () => {
      const { api_token } = (await team.makeApiToken({ name: 'Ü 😀 bot', scopes: ['provision'] })).body
      const [event] = await team.eventsOf(() => team.as(api_token.token).newGroup(randomUUID()))
      assert.equal(event?.api_token, 'Ü 😀 bot')
      await team.revoke(api_token.id)
      assert.deepEqual(await team.trail(Number(event?.id) - 1).then(([first]) => first), event)
    })

    it('says nothing of calls that change nothing or are refused', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      const old = await team.newGroup(randomUUID())
      await team.rotated(old.token)
      await team.makeSchema({ id })
      await team.makeDataSource({ schema_id: id })
      const provisioner = await team.withScopes('provision')
      const events = await team.eventsOf(async () => {
        const answers = await Promise.all([
          ...[team.getOrCreate(id, { name: 'Other' }), team.verify(token), team.group(id), team.page()],
          ...[team.rotate('ugt_x'), team.rotate(old.token), team.rotate(token, -1), team.change(id, {})],
          ...[team.change(id, { name: null, disabled: true }), team.change('nobody', { name: 'x' })],
          ...[team.remove('nobody'), team.getOrCreate(''), team.makeSchema({ id }), team.makeSchema({ id: 7 })],
          ...[team.makeDataSource({ schema_id: 'nobody' }), team.send('DELETE', at('schemas', id)), team.revoke(1)],
          ...[team.makeApiToken({ name: 'x', scopes: [] }), team.send('PATCH', '/api/team', {}), provisioner.revoke(1)],
          ...[team.as('uga_wrong').getOrCreate('x'), provisioner.makeSchema({ id: 'y' })],
        ])
        assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 400, 401, 403, 404, 409])
      })
      assert.deepEqual(events, [])
    })

    it('writes one event for what exactly one of many callers did', async () => {
      const id = randomUUID()
      const created = await team.eventsOf(() => Promise.all(times(20, () => team.getOrCreate(id))))
      assert.deepEqual(kinds(created), ['user_group.created'])
      const { token } = (await team.getOrCreate(id)).body.user_group
      const rotated = await team.eventsOf(() => Promise.all(times(20, () => team.rotate(token))))
      assert.deepEqual(kinds(rotated), ['user_group.token_rotated'])
      const deleted = await team.eventsOf(() => Promise.all(times(20, () => team.remove(id))))
      assert.deepEqual(kinds(deleted), ['user_group.deleted'])
    })

    it('comes in pages, oldest first, from behind any event', async () => {
      await Promise.all(times(30, () => team.newGroup(randomUUID())))
      const all = await team.trail()
      assert.deepEqual(
        all.map(({ id }) => id),
        all.map(({ id }) => id).sort((a, b) => a - b),
      )
      assert.equal(new Set(all.map(({ id }) => id)).size, all.length)
      for (const limit of [1, 7, 200]) {
        const read: AuditEvent[] = []
        for (let after: string | null = '0'; after !== null; ) {
          const { body } = await team.events({ after, limit })
          read.push(...body.events)
          assert.equal(body.events.length, Math.min(limit, all.length - read.length + body.events.length))
          after = body.next_cursor
        }
        assert.deepEqual(read, all, `limit ${limit}`)
      }
      const middle = all[10]
      assert.deepEqual((await team.events({ after: Number(middle?.id), limit: 5 })).body.events, all.slice(11, 16))
      assert.deepEqual((await team.events({ limit: 3 })).body.events, all.slice(0, 3))
      assert.deepEqual((await team.events({ after: 999_999_999 })).body.events, [])
    })

    it('refuses what is no place in it, and a limit that is none', async () => {
      for (const after of ['-1', 'x', '1.5', '', '1e3', ' 1', '9'.repeat(30)])
        assertRefused(await team.events({ after }), 'after', after)
      for (const limit of ['0', '201', '-1', 'x', '', '1.5'])
        assertRefused(await team.events({ limit }), 'limit', limit)
    })

    it('is for admins of the team, and of the team alone', async () => {
      for (const scopes of [['provision'], ['verify'], ['provision', 'verify']])
        assertError(await (await team.withScopes(...scopes)).events(), 403, 'insufficient_scope')
      const id = randomUUID()
      await others.newGroup(id)
      assert.ok(!JSON.stringify(await team.trail()).includes(id))
      const theirs = await others.trail()
      assert.equal(theirs.at(-1)?.user_group, id)
      assert.ok(theirs.every(({ user_group, api_token }) => user_group === id || api_token === null))
    })

    it('holds no secret', async () => {
      const { token } = await team.newGroup(randomUUID())
      const fresh = await team.rotated(token, 60)
      const { api_token } = (await team.makeApiToken({ name: 'x', scopes: ['verify'] })).body
      await team.makeSchema({ id: 'secrets' })
      await team.makeDataSource({ schema_id: 'secrets', connection: { password: 'hunter2 hunter2' } })
      await team.newGroup(randomUUID(), { properties: { ssn: 'hunter2 hunter2' } })
      const text = JSON.stringify([await team.trail(), await others.trail()])
      assert.doesNotMatch(text, /ug[ta]_|hunter2/)
      for (const secret of [token, fresh, api_token.token, testApiToken])
        assert.ok(!text.includes(secret) && !text.includes(secret.slice(4, 24)))
    })
  })

function kinds(events: readonly AuditEvent[]): string[] {
  return events.map(({ kind }) => kind)
}
