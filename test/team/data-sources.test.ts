import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { assertError, assertRefused } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { rawSql } from '../support/raw-database.ts'
import { running } from '../support/running.ts'
import { times } from '../support/times.ts'
import { anotherTeam, at, Team } from './team.ts'

for (const engine of engines)
  describe(`data sources on ${engine.name}`, async () => {
    const { caller, environment, database, service } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)
    for (const id of ['sales', 'marketing']) await team.makeSchema({ id })

    const get = (id: string, from = team) => from.send('GET', at('data_sources', id))
    const change = (id: string, patch: object, from = team) => from.send('PATCH', at('data_sources', id), patch)
    const remove = (id: string, from = team) => from.send('DELETE', at('data_sources', id))
    const list = async () => (await team.send('GET', '/api/data_sources')).body.data_sources
    const newSource = async (more: Record<string, unknown> = {}) => {
      const { status, body } = await team.makeDataSource({ schema_id: 'sales', ...more })
      assert.equal(status, 200, JSON.stringify(body))
      return body.data_source
    }

    it('are made, found by either id and listed, newest last', async () => {
      const provided_id = randomUUID()
      const wish = { provided_id, name: 'Acme DB', kind: 'postgres' }
      const source = await newSource({ ...wish, connection: { host: 'db' } })
      const { id, created_at, updated_at, ...rest } = source
      assert.match(id, /^ds_\w+$/)
      assert.deepEqual(rest, { schema_id: 'sales', ...wish })
      assert.equal(created_at, updated_at)
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
      for (const name of [id, provided_id])
        assert.deepEqual((await get(name)).body, { success: 1, data_source: source })
      const later = await newSource()
      assert.deepEqual((await list()).slice(-2), [source, later])
    })

    it('need a schema of the team and nothing else', async () => {
      const bare = await newSource()
      assert.equal(bare.provided_id, null)
      assert.ok(bare.name.length > 0)
      const before = await list()
      for (const schema_id of ['nowhere', 'Sales', 'sales '])
        assertError(await team.makeDataSource({ schema_id }), 400, 'invalid_request', 'schema_id')
      assertRefused(await team.makeDataSource({ provided_id: randomUUID() }), 'schema_id', undefined)
      assert.deepEqual(await list(), before)
    })

    it('never show their connection, nor store it readably', async () => {
      const secrets = [randomUUID(), randomUUID()]
      const connection = { host: 'db.example', password: secrets[0], nested: [{ key: secrets[0] }] }
      const { token } = await team.newGroup(randomUUID(), { mapping: { sales: secrets[0]?.slice(0, 8) } })
      const made = await team.makeDataSource({ schema_id: 'sales', provided_id: secrets[0]?.slice(0, 8), connection })
      const { id } = made.body.data_source
      const changed = await change(id, { connection: { password: secrets[1] } })
      const answers = [
        ...[made, changed, await get(id), await team.send('GET', '/api/data_sources'), await team.verify(token)],
        ...[await change(id, { name: 'x' }), { body: await team.trail() }],
        await team.makeDataSource({ schema_id: 'nowhere', connection }),
      ]
      const rows = await rawSql(environment, 'select * from data_source')
      const stored = rows.flatMap((row) => Object.values(row).map(readable))
      const files = database.folder === undefined ? [] : readdirSync(database.folder)
      const bytes = files.map((file) => readFileSync(join(database.folder ?? '', file), 'latin1'))
      const { stdout, stderr } = service.output()
      const seen = [...answers.map(({ body }) => JSON.stringify(body)), ...stored, ...bytes, stdout, stderr]
      for (const secret of secrets) assert.ok(seen.every((text) => !text.includes(secret)))
      for (const { body } of answers) assert.doesNotMatch(JSON.stringify(body), /"connection":|db\.example/)
      assert.ok(rows.length > 0)
    })

    it('change by either id: what is sent, and nothing else', async () => {
      const provided_id = randomUUID()
      let expected = await newSource({ provided_id, name: 'Acme DB', kind: 'postgres', connection: { a: 1 } })
      const patches = [
        { name: 'Warehouse' },
        { kind: 'mysql' },
        { schema_id: 'marketing' },
        { connection: { b: 2 } },
        { provided_id: `${provided_id}-2`, name: 'Both' },
      ]
      for (const [i, patch] of patches.entries()) {
        const { status, body } = await change(i % 2 === 0 ? expected.id : expected.provided_id, patch)
        assert.equal(status, 200, JSON.stringify(body))
        const { connection, ...shown } = { connection: undefined, ...patch }
        expected = { ...expected, ...shown, updated_at: body.data_source.updated_at }
        assert.deepEqual(body.data_source, expected)
        assert.deepEqual((await get(expected.id)).body.data_source, expected)
      }
      assertError(await get(provided_id), 404, 'not_found')
    })

    it('take a change by the id they have then, and no other that had it or will', async () => {
      for (const provided_id of times(10, () => randomUUID())) {
        await newSource({ provided_id })
        const heir = await newSource()
        const [, , changed] = await Promise.all([
          change(provided_id, { provided_id: `${provided_id} once` }),
          change(heir.id, { provided_id }),
          change(provided_id, { name: 'Changed', connection: { a: 1 } }),
        ])
        // Between the two renames there is none of that id.
        if (changed.status === 200) assert.equal(changed.body.data_source.provided_id, provided_id)
        else assertError(changed, 404, 'not_found')
      }
    })

    it('refuse an empty change, null and a schema that is not there, and then stay as they are', async () => {
      const source = await newSource({ provided_id: randomUUID(), kind: 'postgres' })
      for (const patch of [{}, { id: 'ds_x' }, { created_at: 'x' }])
        assertError(await change(source.id, patch), 400, 'invalid_request')
      for (const field of ['schema_id', 'provided_id', 'name', 'kind', 'connection'])
        assertRefused(await change(source.id, { name: 'Other', [field]: null }), field, null)
      assertError(await change(source.id, { name: 'Other', schema_id: 'nowhere' }), 400, 'invalid_request', 'schema_id')
      assert.deepEqual((await get(source.id)).body.data_source, source)
    })

    it('have an id of the caller only once in a team, and never one that begins with ds_', async () => {
      const provided_id = randomUUID()
      const [source, other] = [await newSource({ provided_id }), await newSource({ provided_id: randomUUID() })]
      const before = await list()
      assert.equal((await team.makeDataSource({ schema_id: 'marketing', provided_id })).body.error.code, 'conflict')
      assert.equal((await change(other.id, { provided_id, name: 'x' })).body.error.code, 'conflict')
      for (const taken of ['ds_', 'ds_x', source.id, other.id]) {
        const wish = { schema_id: 'sales', provided_id: taken }
        assertRefused(await team.makeDataSource(wish), 'provided_id', taken)
        assertRefused(await change(other.id, { provided_id: taken }), 'provided_id', taken)
      }
      assert.deepEqual(await list(), before)
      for (const free of ['DS_x', 'ds', ' ds_x', provided_id.toUpperCase()]) await newSource({ provided_id: free })
    })

    it('are made once when 10 callers want the same id at once', async () => {
      const provided_id = randomUUID()
      const answers = await Promise.all(times(10, () => team.makeDataSource({ schema_id: 'sales', provided_id })))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...times(9, () => 409)])
    })

    it('stay while mappings use them by either id, and the answer says how many, and names the first', async () => {
      const source = await newSource({ provided_id: randomUUID() })
      const ids = times(3, () => randomUUID())
      await team.newGroup(`${ids[0]}`, { mapping: { sales: source.id } })
      await team.newGroup(`${ids[1]}`, { mapping: { a: source.provided_id, b: source.id, c: 'elsewhere' } })
      await team.newGroup(`${ids[2]}`)
      await team.change(`${ids[2]}`, { mapping: { sales: source.provided_id }, disabled: true })
      // A value that only looks alike, and another team's mapping, are no use of it.
      await team.newGroup(randomUUID(), {
        mapping: { [source.id]: `${source.provided_id} `, x: source.id.toLowerCase() },
      })
      await others.newGroup(randomUUID(), { mapping: { sales: source.id, b: source.provided_id } })
      for (const left of [3, 2, 1]) {
        for (const name of [source.id, source.provided_id]) {
          const refused = await remove(name)
          assertError(refused, 409, 'conflict')
          assert.match(refused.body.error.message, new RegExp(`\\b${left}\\b`))
          for (const id of ids.slice(0, left)) assert.ok(refused.body.error.message.includes(`"${id}"`))
        }
        assert.deepEqual((await get(source.id)).body.data_source, source)
        const id = `${ids[left - 1]}`
        await (left === 3 ? team.remove(id) : team.change(id, { mapping: { sales: 'elsewhere' } }))
      }
      assert.deepEqual((await remove(source.provided_id)).body, { success: 1 })
      for (const name of [source.id, source.provided_id]) {
        assertError(await get(name), 404, 'not_found')
        assertError(await change(name, { name: 'x' }), 404, 'not_found')
        assertError(await remove(name), 404, 'not_found')
      }
    })

    it('that many mappings use name no more than three of the groups, and no token that is the id of one', async () => {
      const source = await newSource()
      const token = `ugt_${'0'.repeat(38)}`
      await Promise.all(times(5, (index) => team.newGroup(`${token}${index}`, { mapping: { sales: source.id } })))
      const { message } = (await remove(source.id)).body.error
      assert.match(message, /^5 user groups are mapped to this data source, such as "…", "…", "…"; change the/)
    })

    it('stay while a mapping uses them under a key that is no text', async () => {
      const source = await newSource()
      await team.newGroup(randomUUID(), { mapping: { 'a\0b': source.id, '\ud800': source.id } })
      assertError(await remove(source.id), 409, 'conflict')
    })

    it('follow a group under a new id, and let go of one that is deleted', async () => {
      const source = await newSource()
      const id = randomUUID()
      await team.newGroup(id, { mapping: { sales: source.id } })
      await team.change(id, { provided_id: `${id}-2`, name: 'New' })
      assertError(await remove(source.id), 409, 'conflict')
      await team.remove(`${id}-2`)
      assert.equal((await remove(source.id)).status, 200)
    })

    it('of one team are nothing to another', async () => {
      const source = await newSource({ provided_id: randomUUID() })
      for (const name of [source.id, source.provided_id]) {
        assertError(await get(name, others), 404, 'not_found')
        assertError(await change(name, { name: 'x' }, others), 404, 'not_found')
        assertError(await remove(name, others), 404, 'not_found')
      }
      await others.makeSchema({ id: 'sales' })
      const theirs = await others.makeDataSource({ schema_id: 'sales', provided_id: source.provided_id })
      assert.equal(theirs.status, 200)
      assert.deepEqual((await get(source.provided_id)).body.data_source, source)
    })
  })

/** Bytes as the characters they would spell. */
function readable(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : JSON.stringify(value)
}
