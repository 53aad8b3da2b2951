import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { times } from '../support/times.ts'
import { anotherTeam, at, Team } from './team.ts'

for (const engine of engines)
  describe(`schemas on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)

    const get = (id: string, from = team) => from.send('GET', at('schemas', id))
    const remove = (id: string, from = team) => from.send('DELETE', at('schemas', id))
    const list = async (from = team) => (await from.send('GET', '/api/schemas')).body.schemas
    const ids = async (from = team): Promise<string[]> => (await list(from)).map(({ id }: { id: string }) => id)

    it('are made under an id of the caller, found under it and listed, newest last', async () => {
      const [first, second] = [randomUUID(), randomUUID()]
      const made = await team.makeSchema({ id: first, name: 'Sales' })
      assert.equal(made.status, 200)
      const { created_at, ...rest } = made.body.schema
      assert.deepEqual(rest, { id: first, name: 'Sales' })
      assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000)
      await team.makeSchema({ id: second })
      assert.deepEqual((await get(first)).body, made.body)
      assert.deepEqual((await ids()).slice(-2), [first, second])
      assert.deepEqual((await list()).at(-2), made.body.schema)
    })

    it('get an id when they are given none, and a name', async () => {
      const answers = [await team.makeSchema({}), await team.makeSchema({ name: 'Sales' }), await team.makeSchema({})]
      assert.equal(new Set(answers.map(({ body }) => body.schema.id)).size, 3)
      for (const { body } of answers) {
        assert.match(body.schema.id, /^\S+$/)
        assert.ok(body.schema.name.length > 0)
        assert.deepEqual((await get(body.schema.id)).body.schema, body.schema)
      }
      assert.equal(answers[1]?.body.schema.name, 'Sales')
    })

    it('are reached under awkward ids, each its own', async () => {
      const awkward = [
        'a/b',
        '..',
        '.',
        '100%',
        '%2F',
        'a b',
        'ü',
        'u\u0308',
        '?',
        '#',
        '__proto__',
        '😀'.repeat(255),
        'SALES',
      ]
      for (const id of awkward) assert.equal((await team.makeSchema({ id })).status, 200, id)
      for (const id of awkward) assert.equal((await get(id)).body.schema.id, id)
      for (const id of awkward) {
        assert.deepEqual((await remove(id)).body, { success: 1 })
        assertError(await get(id), 404, 'not_found')
      }
    })

    it('are not made under an id that is taken, and the first stays as it is', async () => {
      const id = randomUUID()
      const { body } = await team.makeSchema({ id, name: 'First' })
      const again = await team.makeSchema({ id, name: 'Second' })
      assert.equal(again.status, 409)
      assert.equal(again.body.error.code, 'conflict')
      assert.deepEqual((await get(id)).body, body)
      assert.equal((await ids()).filter((listed) => listed === id).length, 1)
    })

    it('are made once when 10 callers want the same id at once', async () => {
      const id = randomUUID()
      const answers = await Promise.all(times(10, (i) => team.makeSchema({ id, name: `Caller ${i}` })))
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...times(9, () => 409)])
      const winner = answers.find(({ status }) => status === 200)
      assert.deepEqual((await get(id)).body, winner?.body)
    })

    it('stay while a data source belongs to them, and the answer says how many', async () => {
      const id = randomUUID()
      await team.makeSchema({ id })
      const sources = await Promise.all(times(3, () => team.makeDataSource({ schema_id: id })))
      const refused = await remove(id)
      assertError(refused, 409, 'conflict')
      assert.match(refused.body.error.message, /\b3\b/)
      assert.equal((await get(id)).status, 200)
      for (const { body } of sources) {
        assertError(await remove(id), 409, 'conflict')
        await team.send('DELETE', at('data_sources', body.data_source.id))
      }
      assert.deepEqual((await remove(id)).body, { success: 1 })
      assertError(await remove(id), 404, 'not_found')
      assert.ok(!(await ids()).includes(id))
    })

    it('are never deleted under a data source that is made at the same moment', async () => {
      for (let round = 0; round < 20; round++) {
        const id = randomUUID()
        await team.makeSchema({ id })
        const [made, deleted] = await Promise.all([team.makeDataSource({ schema_id: id }), remove(id)])
        const there = (await get(id)).status
        if (made.status === 200) assert.deepEqual([deleted.status, there], [409, 200])
        else {
          assertError(made, 400, 'invalid_request', 'schema_id')
          assert.deepEqual([deleted.status, there], [200, 404])
        }
      }
    })

    it('of one team are nothing to another', async () => {
      const id = randomUUID()
      const theirs = await others.makeSchema({ id, name: 'Theirs' })
      assertError(await get(id), 404, 'not_found')
      assertError(await remove(id), 404, 'not_found')
      assertError(await team.makeDataSource({ schema_id: id }), 400, 'invalid_request', 'schema_id')
      assert.ok(!(await ids()).includes(id))
      assert.equal((await team.makeSchema({ id, name: 'Ours' })).status, 200)
      assert.deepEqual((await remove(id)).body, { success: 1 })
      assert.deepEqual((await get(id, others)).body, theirs.body)
      assert.ok((await ids(others)).includes(id))
    })
  })
