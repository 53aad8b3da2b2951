import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError, assertRefused } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
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
      return events.map(({ id, at: time, api_token, by_api_token_id, ...rest }) => {
        assert.ok(Number.isSafeInteger(id))
        assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.ok(Date.parse(time) >= from - 1 && Date.parse(time) <= Date.now(), time)
        assert.deepEqual([api_token, by_api_token_id], ['ci', ci.body.api_token.id])
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
      for (const disabled of [true, false])
        assert.deepEqual(await written(() => team.change(id, { disabled, name: 'New' })), [
          ofGroup('updated', { fields: ['name', 'disabled'], disabled }),
        ])
      const rest = { properties: { region: 'eu' }, mapping: {}, provided_id: id }
      assert.deepEqual(await written(() => team.change(id, rest)), [
        ofGroup('updated', { fields: ['provided_id', 'mapping', 'properties'] }),
      ])
      assert.deepEqual(await written(() => team.rotated(token, 60)), [ofGroup('token_rotated', { grace_seconds: 60 })])
      const [rename] = await written(() => team.change(id, { provided_id: renamed }))
      assert.deepEqual(rename, ofGroup('updated', { renamed_to: renamed, fields: ['provided_id'] }))
      assert.deepEqual(await written(() => team.remove(renamed)), [{ ...ofGroup('deleted'), user_group: renamed }])
      const get = () => team.send('GET', '/api/user', { user_group_id: `${id}-3` })
      assert.deepEqual(await written(get), [{ kind: 'user_group.created', user_group: `${id}-3` }])
    })

    it('tells the life of a schema and a data source', async () => {
      const id = randomUUID()
      const schema = (kind: string) => [{ kind: `schema.${kind}`, schema: id, name: 'Sales' }]
      assert.deepEqual(await written(() => team.makeSchema({ id, name: 'Sales' })), schema('created'))
      let source = { id: '' }
      const [created] = await written(async () => {
        source = (await team.makeDataSource({ schema_id: id, provided_id: `${id} db`, name: 'Old' })).body.data_source
      })
      const path = at('data_sources', source.id)
      const ofSource = (kind: string, more = {}) => ({
        ...{ kind: `data_source.${kind}`, data_source: source.id, provided_id: `${id} db`, name: 'New', ...more },
      })
      assert.deepEqual(created, ofSource('created', { name: 'Old' }))
      for (const patch of [{ name: 'New' }, { connection: { password: 'x' } }, { kind: 'mysql', schema_id: id }]) {
        const [updated] = await written(() => team.send('PATCH', path, patch))
        assert.deepEqual(updated, ofSource('updated', { fields: Object.keys(patch).sort().reverse() }))
      }
      const provided_id = `${id} moved`
      const [renamed] = await written(() => team.send('PATCH', path, { provided_id }))
      assert.deepEqual(renamed, ofSource('updated', { fields: ['provided_id'], renamed_to: provided_id }))
      const [deleted] = await written(() => team.send('DELETE', path))
      assert.deepEqual(deleted, ofSource('deleted', { provided_id }))
      const [without] = await written(() => team.makeDataSource({ schema_id: id, name: 'No id of ours' }))
      assert.equal(without?.name, 'No id of ours')
      assert.equal('provided_id' in without, false)
      const [given] = await written(() =>
        team.send('PATCH', at('data_sources', String(without.data_source)), { provided_id }),
      )
      assert.equal(given?.provided_id, provided_id)
      assert.equal('renamed_to' in given, false)
      await team.send('DELETE', at('data_sources', String(without.data_source)))
      assert.deepEqual(await written(() => team.send('DELETE', at('schemas', id))), schema('deleted'))
    })

    it('tells the life of an API token and the changes of the team', async () => {
      let made = { id: 0 }
      const [created] = await written(async () => {
        made = (await team.makeApiToken({ name: 'short-lived', scopes: ['verify'] })).body.api_token
      })
      const ofToken = { api_token_id: made.id, name: 'short-lived', scopes: ['verify'] }
      assert.deepEqual(created, { kind: 'api_token.created', ...ofToken })
      const [revoked] = await written(() => team.revoke(made.id))
      assert.deepEqual(revoked, { kind: 'api_token.revoked', ...ofToken })
      const patch = (body: object) => written(() => team.send('PATCH', '/api/team', body))
      assert.deepEqual(await patch({ name: 'Renamed' }), [{ kind: 'team.updated', fields: ['name'] }])
      for (const strict_mapping of [true, false])
        assert.deepEqual(await patch({ strict_mapping }), [
          { kind: 'team.updated', fields: ['strict_mapping'], strict_mapping },
        ])
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

    it('comes newest first where that is asked for', async () => {
      const newestFirst = (await team.trail()).reverse()
      const read: AuditEvent[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const { body } = await team.events({ order: 'desc', limit: 7, ...(after !== undefined && { after }) })
        read.push(...body.events)
        after = body.next_cursor
      }
      assert.deepEqual(read, newestFirst)
      assert.deepEqual((await team.events({ order: 'desc', after: 1 })).body, {
        ...{ success: 1, events: [], next_cursor: null },
      })
    })

    it('tells what happened to a user group, under each id it had, and to nothing else of that id', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      await team.newGroup(`${id}-other`)
      await team.makeSchema({ id })
      await team.rotated(token)
      await team.change(id, { provided_id: `${id}-2` })
      await team.remove(`${id}-2`)
      const of = async (user_group: string) => kinds((await team.events({ user_group, limit: 200 })).body.events)
      const life = ['created', 'token_rotated', 'updated', 'deleted'].map((kind) => `user_group.${kind}`)
      assert.deepEqual(await of(id), life.slice(0, 3))
      assert.deepEqual(await of(`${id}-2`), life.slice(2))
      assert.deepEqual(await of(id.toUpperCase()), [])
    })

    it('tells what an API token did, and what of a kind was done', async () => {
      const name = 'twice there'
      const [one, two] = await Promise.all(times(2, () => team.makeApiToken({ name, scopes: ['provision'] })))
      const [first = assert.fail(), second = assert.fail()] = [one?.body.api_token, two?.body.api_token]
      const id = randomUUID()
      const { token } = await team.as(first.token).newGroup(id)
      await team.as(second.token).rotated(token)
      const by = async (query: object) => {
        const { events } = (await team.events({ order: 'desc', ...query })).body
        return (events as AuditEvent[]).map(({ kind, user_group, api_token }) => [kind, user_group, api_token])
      }
      assert.deepEqual(await by({ by_api_token_id: first.id }), [['user_group.created', id, name]])
      assert.deepEqual(await by({ by_api_token_id: second.id }), [['user_group.token_rotated', id, name]])
      assert.deepEqual(await by({ by_api_token_id: first.id, kind: 'user_group.token_rotated' }), [])
      const older = `update event set by_api_token_id = null where by_api_token_id = ${second.id}`
      await rawSql(environment, older)
      assert.deepEqual(
        await by({ by_api_token_id: first.id }),
        [
          ['user_group.token_rotated', id, name],
          ['user_group.created', id, name],
        ],
        'of an older event the name is known alone',
      )
      assert.deepEqual(await by({ kind: 'user_group.token_rotated', limit: 1 }), [
        ['user_group.token_rotated', id, name],
      ])
    })

    it('refuses what is no place in it, a limit that is none, and what it cannot be searched for', async () => {
      for (const [field, value] of Object.entries({ order: 'newest', kind: 'user_group', user_group: '' }))
        assertRefused(await team.events({ [field]: value }), field, value)
      for (const id of ['0', 'ci', '1.5', '-1'])
        assertRefused(await team.events({ by_api_token_id: id }), 'by_api_token_id', id)
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
