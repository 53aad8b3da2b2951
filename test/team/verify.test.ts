import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { testApiToken } from '../support/service-process.ts'
import { anotherTeam, Team } from './team.ts'

const unknown = { success: 1, active: false, reason: 'unknown' }
const rotated = { success: 1, active: false, reason: 'rotated' }
const disabled = { success: 1, active: false, reason: 'disabled' }

for (const engine of engines)
  describe(`verifying a token on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)

    const answerTo = async (token: string) => {
      const { status, body } = await team.verify(token)
      assert.equal(status, 200, JSON.stringify(body))
      return body
    }
    await team.makeSchema({ id: 'sales' })
    const newSource = async (providedId?: string, name?: string) => {
      const wish = { schema_id: 'sales', ...(providedId && { provided_id: providedId }), ...(name && { name }) }
      const { status, body } = await team.makeDataSource({ ...wish, connection: { password: 'hidden' } })
      assert.equal(status, 200, JSON.stringify(body))
      const { id, provided_id } = body.data_source
      return { id, provided_id, name: body.data_source.name }
    }

    it('tells whose it is, what the mapping resolves to and the properties, and nothing else', async () => {
      const [acme, mine] = [await newSource('acme-db', 'Acme DB'), await newSource()]
      const { token, team_id } = await team.newGroup('acme', {
        name: 'Acme',
        mapping: { sales: 'acme-db', 'by id': acme.id, mine: mine.id },
        properties: { region: 'eu' },
      })
      assert.deepEqual(await answerTo(token), {
        success: 1,
        active: true,
        user_group: { team_id, name: 'Acme', provided_id: 'acme' },
        data_sources: { sales: acme, 'by id': acme, mine },
        properties: { region: 'eu' },
        expires_at: null,
      })
    })

    it('answers for a group with nothing but an id', async () => {
      const { token, team_id } = await team.newGroup('bare')
      assert.deepEqual(await answerTo(token), {
        success: 1,
        active: true,
        user_group: { team_id, name: 'bare', provided_id: 'bare' },
        data_sources: {},
        properties: {},
        expires_at: null,
      })
    })

    it('names what does not resolve, and gives it no other data source', async () => {
      const source = await newSource('only-db')
      const near = ['Only-db', 'only-db ', ' only-db', 'only-d', 'only-db%', '%', '_', source.id.toUpperCase()]
      const entries = [...near, source.name.slice(0, 4), 'ds_', 'null', "' or 1=1 --"].map((value, i) => [
        `k${i}`,
        value,
      ])
      const mapping = Object.fromEntries([...entries, ['good', 'only-db'], ['__proto__', 'nope'], ['sales', 'sales']])
      const { token } = await team.newGroup(randomUUID(), { mapping })
      const { data_sources, unresolved, active } = await answerTo(token)
      assert.equal(active, true)
      assert.deepEqual(data_sources, { good: source })
      const missing = Object.keys(mapping).filter((schema) => schema !== 'good')
      assert.deepEqual([...unresolved].sort(), missing.sort())
    })

    it('resolves a mapping key that names something of every object', async () => {
      const source = await newSource('proto-db')
      const mapping = JSON.parse('{"__proto__":"proto-db","constructor":"proto-db","toString":"nope","7":"proto-db"}')
      const { token } = await team.newGroup(randomUUID(), { mapping })
      const { data_sources, unresolved } = await answerTo(token)
      assert.deepEqual(Object.entries(data_sources).sort(), [
        ['7', source],
        ['__proto__', source],
        ['constructor', source],
      ])
      assert.deepEqual(unresolved, ['toString'])
    })

    it('resolves a mapping key that no engine stores as text', async () => {
      const source = await newSource('any-db')
      const asJson = JSON.stringify('a\0b')
      const { token } = await team.newGroup(randomUUID(), {
        mapping: { 'a\0b': 'any-db', '\udfff': source.id, [asJson]: 'nowhere' },
      })
      const { data_sources, unresolved } = await answerTo(token)
      assert.deepEqual(data_sources, { 'a\0b': source, '\udfff': source })
      assert.deepEqual(unresolved, [asJson])
    })

    it('resolves a mapping as soon as its data source exists', async () => {
      const { token } = await team.newGroup(randomUUID(), { mapping: { sales: 'later-db' } })
      assert.deepEqual((await answerTo(token)).unresolved, ['sales'])
      const source = await newSource('later-db')
      const resolved = await answerTo(token)
      assert.deepEqual(resolved.data_sources, { sales: source })
      assert.ok(!('unresolved' in resolved))
    })

    it("does not resolve to another team's data source, by either id", async () => {
      await others.makeSchema({ id: 'sales' })
      const { body } = await others.makeDataSource({ schema_id: 'sales', provided_id: 'their-db' })
      const mapping = { sales: 'their-db', id: body.data_source.id }
      const { token } = await team.newGroup(randomUUID(), { mapping })
      const { data_sources, unresolved } = await answerTo(token)
      assert.deepEqual(data_sources, {})
      assert.deepEqual([...unresolved].sort(), ['id', 'sales'])
    })

    it('shows a change of the group and of its data source', async () => {
      const id = randomUUID()
      const source = await newSource(`${id}-db`)
      const { token, team_id } = await team.newGroup(id, { mapping: { sales: source.id } })
      await team.change(id, { name: 'New', provided_id: `${id}-2`, properties: { a: 1 }, mapping: { b: source.id } })
      await team.send('PATCH', `/api/data_sources/${source.id}`, { name: 'New DB' })
      assert.deepEqual(await answerTo(token), {
        success: 1,
        active: true,
        user_group: { team_id, name: 'New', provided_id: `${id}-2` },
        data_sources: { b: { ...source, name: 'New DB' } },
        properties: { a: 1 },
        expires_at: null,
      })
    })

    it('calls a token that was rotated rotated, however many came after it, and the newest is active', async () => {
      const { token } = await team.newGroup(randomUUID())
      const second = await team.rotated(token)
      const third = await team.rotated(second)
      assert.deepEqual(await answerTo(token), rotated)
      assert.deepEqual(await answerTo(second), rotated)
      assert.equal((await answerTo(third)).active, true)
    })

    it('calls the token of a disabled group disabled, also one rotated meanwhile, until it is enabled', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      await team.change(id, { disabled: true })
      assert.deepEqual(await answerTo(token), disabled)
      const fresh = await team.rotated(token)
      assert.deepEqual(await answerTo(fresh), disabled)
      assert.equal((await answerTo(token)).active, false)
      await team.change(id, { disabled: false })
      assert.equal((await answerTo(fresh)).active, true)
      assert.deepEqual(await answerTo(token), rotated)
    })

    it('does not know the tokens of a deleted group, nor when its id is taken again', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id)
      const second = await team.rotated(token, 3600)
      await team.remove(id)
      for (const gone of [token, second]) assert.deepEqual(await answerTo(gone), unknown)
      const fresh = await team.newGroup(id)
      for (const gone of [token, second]) assert.deepEqual(await answerTo(gone), unknown)
      assert.equal((await answerTo(fresh.token)).active, true)
    })

    it("does not know another team's token, whatever became of it", async () => {
      const id = randomUUID()
      const { token } = await others.newGroup(id)
      assert.deepEqual(await answerTo(token), unknown)
      const graced = await others.rotated(token, 3600)
      for (const theirs of [token, graced]) assert.deepEqual(await answerTo(theirs), unknown)
      assert.equal((await others.verify(token)).body.active, true)
      await others.rotated(graced)
      await others.change(id, { disabled: true })
      for (const theirs of [token, graced]) assert.deepEqual(await answerTo(theirs), unknown)
    })

    it('does not know what was never a token, nor an API token', async () => {
      const { token } = await team.newGroup(randomUUID())
      const { body } = await team.makeApiToken({ name: 'ci', scopes: ['provision'] })
      const near = [` ${token}`, `${token} `, `${token}\n`, `${token}\0`, token.slice(0, -1), token.slice(4)]
      const strangers = ['', 'x', '中', '%', 'x'.repeat(10_000), `ugt_${'0'.repeat(38)}`, token.toLowerCase()]
      for (const stranger of [...near, ...strangers, testApiToken, body.api_token.token])
        assert.deepEqual(await answerTo(stranger), unknown, stranger.slice(0, 60))
      assert.equal((await answerTo(token)).active, true)
    })

    it('is for API tokens of the scope verify or admin', async () => {
      const { token } = await team.newGroup(randomUUID())
      const [verifier, admin, provisioner] = await Promise.all([
        team.withScopes('verify'),
        team.withScopes('admin'),
        team.withScopes('provision'),
      ])
      assert.equal((await verifier.verify(token)).body.active, true)
      assert.equal((await admin.verify(token)).body.active, true)
      assertError(await provisioner.verify(token), 403, 'insufficient_scope')
    })

    it('changes nothing', async () => {
      const id = randomUUID()
      const { token } = await team.newGroup(id, { mapping: { a: 'b' } })
      const before = (await team.group(id)).body
      const events = await team.eventsOf(async () => {
        await answerTo(token)
        await answerTo('x')
      })
      assert.deepEqual(events, [])
      assert.deepEqual((await team.group(id)).body, before)
    })
  })
