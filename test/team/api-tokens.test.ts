import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { assertError, assertErrorShape, assertRefused } from '../contract/expectations.ts'
import { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { rawSql } from '../support/raw-database.ts'
import { running } from '../support/running.ts'
import { startService } from '../support/service-process.ts'
import { operations } from './operations.ts'
import { anotherTeam, Team } from './team.ts'

interface Listed {
  id: number
  name: string
  scopes: string[]
  last_used_at: string | null
}

for (const engine of engines)
  describe(`API tokens on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const beside = await startService(environment)
    const callerBeside = new Caller(beside.url)
    after(async () => {
      await callerBeside.close()
      await beside.stop('SIGKILL')
    })
    /** Has one admin token; some tests below leave it another one. */
    let others = await anotherTeam(caller, environment)

    const list = async (from = team): Promise<Listed[]> => (await from.send('GET', '/api/api_tokens')).body.api_tokens
    const lastUse = async (id: number) => (await list()).find((token) => token.id === id)?.last_used_at
    const make = async (from: Team, name: string, scopes: string[], expiresAt?: string) => {
      const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt }
      const { status, body } = await from.makeApiToken({ name, scopes, ...expiry })
      assert.equal(status, 200, JSON.stringify(body))
      return { ...body.api_token, team: from.as(body.api_token.token) } as Listed & { token: string; team: Team }
    }
    const works = async (candidate: Team) => (await candidate.send('GET', '/api/user_groups/nobody')).status !== 401
    const assertRevoked = async (candidate: Team) =>
      assertError(await candidate.send('GET', '/api/team'), 401, 'invalid_api_token')
    const admins = async (from: Team) => (await list(from)).filter(({ scopes }) => scopes.includes('admin'))

    it('are made with a secret that is shown once, and listed without it, newest last', async () => {
      const { body } = await team.makeApiToken({ name: 'ci', scopes: ['verify'] })
      const { id, token, created_at, ...rest } = body.api_token
      assert.match(token, /^uga_[0-9A-Za-z]{38}$/)
      assert.deepEqual(rest, { name: 'ci', scopes: ['verify'], expires_at: null, last_used_at: null })
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
      const listed = await team.send('GET', '/api/api_tokens')
      assert.deepEqual(listed.body.api_tokens.at(-1), { id, created_at, ...rest })
      assert.doesNotMatch(JSON.stringify(listed.body), new RegExp(`"token"|${token}|${token.slice(4, 20)}`))
    })

    it('may bear a name twice: the secret is another', async () => {
      const [one, two] = [await make(team, 'same', ['verify']), await make(team, 'same', ['verify'])]
      assert.notEqual(one.token, two.token)
      assert.notEqual(one.id, two.id)
    })

    it('work for the team that made them, with the scopes they were given', async () => {
      const group = await team.newGroup('acme')
      const { team: bearer } = await make(team, 'both', ['verify', 'provision'])
      assert.equal((await bearer.getOrCreate('acme')).body.user_group.token, group.token)
      assert.equal((await bearer.verify(group.token)).body.active, true)
      assertError(await bearer.send('GET', '/api/team'), 403, 'insufficient_scope')
    })

    it('reach exactly the operations of their scopes', async () => {
      const bearers = await Promise.all(
        [['provision'], ['verify'], ['admin'], ['provision', 'verify']].map((scopes) => make(team, 'one', scopes)),
      )
      for (const { method, path } of operations)
        for (const { scopes, team: bearer } of bearers) {
          const answer = await bearer.send(method, path.replace(/\{\w+\}/, 'nobody'))
          const what = `${method} ${path} with ${scopes}: ${answer.status}`
          if (scopes.includes('admin') || scopes.includes(scopeOf(path)))
            assert.ok(![401, 403].includes(answer.status) && answer.status < 500, what)
          else {
            assert.equal(answer.status, 403, what)
            assert.equal(answer.body.error.code, 'insufficient_scope')
            assertErrorShape(answer)
          }
        }
    })

    it('refuse scopes and times that make no sense, and then are not made', async () => {
      const before = await list()
      const wrongScopes = [
        [],
        ['root'],
        ['Admin'],
        ['verify', 'verify'],
        ['verify', 'root'],
        'verify',
        null,
        {},
        [null],
        [['verify']],
      ]
      for (const scopes of wrongScopes) assertRefused(await team.makeApiToken({ name: 'x', scopes }), 'scopes', scopes)
      const now = new Date()
      const times = ['2020-01-01T00:00:00Z', now.toISOString(), '1970-01-01T00:00:00.000Z', '-000001-01-01T00:00:00Z']
      const noTimes = ['', 'tomorrow', '2040-13-01T00:00:00Z', '2040-01-01T25:00:00Z', 4102444800000, [], {}, true]
      for (const expires_at of [...times, ...noTimes, '999999-01-01T00:00:00Z', '9999-12-31T23:59:59-01:00'])
        assertRefused(await team.makeApiToken({ name: 'x', scopes: ['verify'], expires_at }), 'expires_at', expires_at)
      assert.deepEqual(withoutUse(await list()), withoutUse(before))
    })

    it('refuse a day that no calendar has, instead of taking another', async () => {
      for (const expires_at of ['2040-02-30T00:00:00Z', '2041-02-29T00:00:00Z', '2040-04-31T12:00:00.000Z'])
        assertRefused(await team.makeApiToken({ name: 'x', scopes: ['verify'], expires_at }), 'expires_at', expires_at)
    })

    it('take the time of their end as programs write it, with an offset and any part of a second', async () => {
      for (const expires_at of [
        '2040-01-01T01:00:00+01:00',
        '2039-12-31T14:30:00.000000-09:30',
        '2040-01-01T00:00:00Z',
      ]) {
        const { body } = await team.makeApiToken({ name: 'x', scopes: ['verify'], expires_at })
        assert.equal(body.api_token?.expires_at, '2040-01-01T00:00:00.000Z', expires_at)
      }
      for (const expires_at of [
        '2040-01-01',
        '2040-01-01T00:00:00',
        '2040-01-01T00:00:00+25:00',
        '2040-02-30T00:00:00+01:00',
      ])
        assertRefused(await team.makeApiToken({ name: 'x', scopes: ['verify'], expires_at }), 'expires_at', expires_at)
    })

    it('say when they end, and end then', async () => {
      const end = Date.now() + 2_000
      const { team: bearer, id } = await make(team, 'short', ['admin'], new Date(end).toISOString())
      const [listed] = (await list()).filter((token) => token.id === id) as (Listed & { expires_at: string })[]
      assert.equal(Date.parse(String(listed?.expires_at)), end)
      await eventually('it has ended', async () => {
        const asked = Date.now()
        const { status, body } = await bearer.send('GET', '/api/team')
        if (Date.now() < end) assert.equal(status, 200, 'it ended early')
        if (asked > end) assert.equal(status, 401, 'it is still there')
        return status === 401 && body.error.code === 'invalid_api_token'
      })
    })

    it('say when they were last used', async () => {
      const { id, team: bearer } = await make(team, 'used', ['verify'])
      assert.equal(await lastUse(id), null)
      const before = Date.now()
      await bearer.verify('x')
      const used = await eventually('its use is noted', async () => (await lastUse(id)) ?? undefined)
      assert.ok(Date.parse(used) >= before - 1000 && Date.parse(used) <= Date.now(), used)
    })

    it('say so anew ten minutes later', async () => {
      const { id, team: bearer } = await make(team, 'used again', ['verify'])
      await bearer.verify('x')
      await eventually('its use is noted', async () => (await lastUse(id)) !== null)
      const elevenMinutesAgo = Date.now() - 660_000
      await rawSql(environment, `update api_token set last_used_at = ${elevenMinutesAgo} where id = ${id}`)
      await bearer.verify('x')
      await eventually('it is noted again', async () => Date.parse((await lastUse(id)) ?? '') > elevenMinutesAgo)
    })

    if (engine.name === 'SQLite')
      it('are of use where that cannot be noted, which a later request does', async () => {
        const { id, team: bearer } = await make(team, 'unnoted', ['verify'])
        const refusing = `before update of last_used_at on api_token begin select raise(abort, 'no note'); end`
        await rawSql(environment, `create trigger no_note ${refusing}`)
        for (let time = 0; time < 3; time += 1) {
          assert.equal((await bearer.verify('x')).status, 200)
          // The note is made behind the answer.
          await pause(50)
        }
        assert.equal(await lastUse(id), null)
        await rawSql(environment, 'drop trigger no_note')
        assert.equal((await bearer.verify('x')).status, 200)
        await eventually('its use is noted', async () => (await lastUse(id)) !== null)
      })

    it('end when they are revoked, leave the list, and cannot be revoked twice', async () => {
      const { id, team: bearer } = await make(team, 'gone', ['admin'])
      assert.equal(await works(bearer), true)
      const revoked = await team.revoke(id)
      assert.deepEqual([revoked.status, revoked.body], [200, { success: 1 }])
      await assertRevoked(bearer)
      assert.ok((await list()).every((token) => token.id !== id))
      assertError(await team.revoke(id), 404, 'not_found')
    })

    it('may revoke themselves', async () => {
      const { id, team: bearer } = await make(team, 'self', ['admin'])
      assert.deepEqual((await bearer.revoke(id)).body, { success: 1 })
      await assertRevoked(bearer)
    })

    it('of another team, or of nobody, are not found', async () => {
      const theirs = await make(others, 'theirs', ['verify'])
      for (const id of [theirs.id, 1, 0, -1, '1e3', `0${theirs.id}`, `${theirs.id}.0`, ` ${theirs.id}`, 'x'])
        assertError(await team.revoke(id), 404, 'not_found')
      assert.equal(await works(theirs.team), true)
      assert.ok((await list()).every(({ id }) => id !== theirs.id))
    })

    it('keep the last admin of a team, whatever other tokens there are', async () => {
      const [last] = await admins(others)
      assert.ok(last)
      await make(others, 'not one', ['provision', 'verify'])
      const short = await make(others, 'short', ['admin'], new Date(Date.now() + 2_000).toISOString())
      await eventually('the other one has ended', async () => !(await works(short.team)))
      const events = await others.eventsOf(async () => assertError(await others.revoke(last.id), 409, 'conflict'))
      assert.deepEqual(events, [])
      assert.equal((await others.send('GET', '/api/team')).status, 200)
      const next = await make(others, 'next', ['admin', 'provision'])
      assert.equal((await others.revoke(last.id)).status, 200)
      assertError(await next.team.revoke(next.id), 409, 'conflict')
      others = next.team
    })

    it('keep one admin when two revoke each other, or themselves, at the same moment', async () => {
      for (let round = 0; round < 30; round++) {
        const living = (await admins(others)).filter(({ name }) => name !== 'short')
        const [last] = living
        assert.ok(last && living.length === 1, `${living.length} admins before round ${round}`)
        const second = await make(others, 'second', ['admin'])
        // On two processes, so that none can settle it by itself.
        const twin = new Team(callerBeside, second.token)
        const [first, other] = round % 2 === 0 ? [second.id, last.id] : [last.id, second.id]
        const answers = await Promise.all([others.revoke(first), twin.revoke(other)])
        const told = answers.map(({ status }) => status).sort()
        assert.ok(told[0] === 200 && (told[1] === 409 || told[1] === 401), `round ${round}: ${told}`)
        const alive = [await works(others), await works(twin)]
        assert.equal(alive.filter(Boolean).length, 1, `round ${round}: ${alive}`)
        if (alive[1]) others = second.team
      }
    })
  })

/** As decided, by where an operation lives. */
function scopeOf(path: string): string {
  if (path === '/api/verify') return 'verify'
  return path === '/api/user' || path.startsWith('/api/user_groups') ? 'provision' : 'admin'
}

function withoutUse(tokens: readonly Listed[]) {
  return tokens.map((token) => ({ ...token, last_used_at: null }))
}
