import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { assertError, assertFound } from './expectations.ts'

for (const engine of engines)
  describe(`get or create on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)

    it('makes the group the first time and finds it ever after', async () => {
      const id = randomUUID()
      const made = await caller.getOrCreate(id, { name: 'Acme' })
      assertFound(made, true)
      assert.equal(made.body.user_group.name, 'Acme')
      assert.equal(made.body.user_group.provided_id, id)
      const found = await caller.getOrCreate(id, { name: 'Acme' })
      assertFound(found, false)
      assert.deepEqual(found.body.user_group, made.body.user_group)
    })

    it('names a group after its id when no name is sent', async () => {
      const id = randomUUID()
      assert.equal((await caller.getOrCreate(id)).body.user_group.name, id)
    })

    it('keeps a name exactly as it was sent', async () => {
      for (const name of [' Acme ', 'ÄCME ☕ 株式会社', 'Cafe\u0301', '<b>"Acme"</b> \\ \'', '👩‍👩‍👧', '0', 'null']) {
        const id = randomUUID()
        assert.equal((await caller.getOrCreate(id, { name })).body.user_group.name, name)
        assert.equal((await caller.getOrCreate(id)).body.user_group.name, name)
      }
    })

    it('returns a group that exists as it is, whatever else is sent', async () => {
      const id = randomUUID()
      const made = await caller.getOrCreate(id, { name: 'First', mapping: { sales: 'db' }, properties: { a: 1 } })
      const again = await caller.getOrCreate(id, { name: 'Second', mapping: { sales: 'other' }, properties: { b: 2 } })
      assertFound(again, false)
      assert.deepEqual(again.body.user_group, made.body.user_group)
      assert.deepEqual((await caller.getOrCreate(id)).body.user_group, made.body.user_group)
    })

    it('compares ids exactly: case, blanks and Unicode forms make different groups', async () => {
      const ids = [
        'Zoë',
        'zoë',
        'Zoe\u0308',
        ' Zoë',
        'Zoë ',
        'Zoë  ',
        'Zoé',
        'ＺＯë',
        'Zo\u00ADë',
        'Zoë\u200B',
        '\uFEFFZoë',
      ]
      const tokens = new Set<string>()
      for (const id of ids) {
        const made = await caller.getOrCreate(id)
        assertFound(made, true)
        assert.equal(made.body.user_group.provided_id, id)
        tokens.add(made.body.user_group.token)
      }
      assert.equal(tokens.size, ids.length)
      for (const id of ids) assertFound(await caller.getOrCreate(id), false)
    })

    it('keeps ids that mean something elsewhere: numbers as text, SQL wildcards, paths, object members', async () => {
      const ids = [
        '42',
        '042',
        '42.0',
        '%',
        '_',
        "'; drop table user_group; --",
        '../x',
        'a/b',
        '__proto__',
        'constructor',
      ]
      for (const id of ids) {
        const made = await caller.getOrCreate(id)
        assertFound(made, true)
        assert.equal(made.body.user_group.provided_id, id)
      }
    })

    it('gives 50 callers at once the same group, and tells exactly one that it is new', async () => {
      const id = randomUUID()
      const answers = await Promise.all(Array.from({ length: 50 }, () => caller.getOrCreate(id)))
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]))
      assert.equal(answers.filter((answer) => answer.body.new_user_group).length, 1)
      assert.equal(new Set(answers.map((answer) => answer.body.user_group.token)).size, 1)
    })

    it('never gives two groups the same token', async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, () => caller.getOrCreate(randomUUID())))
      assert.equal(new Set(answers.map((answer) => answer.body.user_group.token)).size, 100)
    })

    it('ignores fields it does not know, filename among them', async () => {
      const id = randomUUID()
      const more = { filename: 'a.mp4', team_id: 99, token: 'mine', provided_id: 'mine', toString: null }
      const made = await caller.getOrCreate(id, more)
      assertFound(made, true)
      assert.equal(made.body.user_group.provided_id, id)
      assert.notEqual(made.body.user_group.team_id, 99)
      assert.notEqual(made.body.user_group.token, 'mine')
      const text = `{"user_group_id":"${id}","stranger":12345678901234567890,"deep":[[{"":1e999}]]}`
      assertFound(await caller.call('GET', '/api/user', { text }), false)
    })

    it('tells a caller whose body was dropped on the way what to do instead', async () => {
      for (const headers of [{}, { 'content-type': 'application/json' }]) {
        const answer = await caller.call('GET', '/api/user', { headers })
        assertError(answer, 400, 'missing_body')
        assert.match(answer.body.error.message, /POST \/api\/user_groups/)
        assert.match(answer.body.error.message, /proxy|client/)
      }
    })

    it('does the same under its twin, POST /api/user_groups', async () => {
      const json = { user_group_id: randomUUID(), name: 'Twin', mapping: { s: 'd' }, properties: { a: [1] } }
      const made = await caller.call('POST', '/api/user_groups', { json })
      assertFound(made, true)
      assert.equal(made.body.user_group.name, 'Twin')
      const again = await caller.call('POST', '/api/user_groups', { json })
      assertFound(again, false)
      const found = await caller.call('GET', '/api/user', { json })
      assertFound(found, false)
      assert.deepEqual(again.body.user_group, made.body.user_group)
      assert.deepEqual(found.body.user_group, made.body.user_group)
      const refused = await caller.call('POST', '/api/user_groups', { json: { user_group_id: 42 } })
      assertError(refused, 400, 'invalid_request', 'user_group_id')
      assertError(await caller.call('POST', '/api/user_groups'), 400, 'missing_body')
    })

    it('works the same with a trailing slash', async () => {
      const json = { user_group_id: randomUUID() }
      const made = await caller.call('GET', '/api/user/', { json })
      assertFound(made, true)
      const found = await caller.call('GET', '/api/user', { json })
      assertFound(found, false)
      assert.deepEqual(found.body.user_group, made.body.user_group)
    })

    it('refuses HEAD and makes nothing', async () => {
      const json = { user_group_id: randomUUID() }
      for (const path of ['/api/user', '/api/user/']) {
        const answer = await caller.call('HEAD', path, { json })
        assert.equal(answer.status, 405)
        assert.equal(answer.headers.allow, 'GET, POST')
        assert.equal(answer.headers['cache-control'], 'no-store')
        assert.equal(answer.headers.etag, undefined)
        assert.equal(answer.body, '')
      }
      assertFound(await caller.call('GET', '/api/user', { json }), true)
    })

    it('makes nothing when it refuses', async () => {
      const id = randomUUID()
      await caller.getOrCreate(id, { name: '' })
      await caller.getOrCreate(id, { mapping: { a: 1 } })
      await caller.getOrCreate(id, { properties: [] })
      assertFound(await caller.getOrCreate(id), true)
    })
  })
