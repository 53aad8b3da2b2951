import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bodyText } from '../../client/src/body.ts'
import { clientOf, failure } from './client.ts'

describe('the body of a request', () => {
  it('is not sent with a number that would lose digits, and the field is named', async () => {
    const fetch = () => assert.fail('it was sent')
    const client = clientOf('http://127.0.0.1', { fetch })
    const shared = { n: 1 }
    for (const [properties, path] of [
      [{ id: 2 ** 53 }, 'properties.id'],
      [{ id: -(2 ** 53) }, 'properties.id'],
      [{ list: [{ id: 1n }] }, 'properties.list.0.id'],
      [{ 'a b': { '': Number.NaN } }, 'properties["a b"][""]'],
      [{ first: shared, second: { shared, end: Number.POSITIVE_INFINITY } }, 'properties.second.end'],
    ] as const) {
      const { code, field, message } = await failure(client.getOrCreate({ user_group_id: 'acme', properties }))
      assert.deepEqual([code, field], ['invalid_request', path])
      assert.match(message, /send it as a string/)
    }
  })

  it('is not sent with what JSON would leave out, empty or turn into null, and the field is named', async () => {
    const client = clientOf('http://127.0.0.1', { fetch: () => assert.fail('it was sent') })
    const values = [
      () => 1,
      Symbol('s'),
      new Map([[1, 2]]),
      new Set([1]),
      new Number(1),
      /x/,
      Promise.resolve(),
      new Error('e'),
    ]
    for (const value of [...values, Object(1n)])
      for (const [given, path] of [
        [{ user_group_id: 'acme', properties: value }, 'properties'],
        [{ user_group_id: 'acme', properties: { list: [value] } }, 'properties.list.0'],
      ] as const) {
        const { code, field, message } = await failure(client.getOrCreate(given))
        assert.deepEqual([code, field], ['invalid_request', path])
        assert.match(message, /JSON/)
      }
    const connection = { port: () => 1 }
    assert.equal((await failure(client.createDataSource({ schema_id: 'x', connection }))).field, 'connection.port')
  })

  it('is not sent unless it is an object that can be made JSON, nor is a query that is none', async () => {
    const client = clientOf('http://127.0.0.1', { fetch: () => assert.fail('it was sent') })
    const cyclic = { properties: {} }
    cyclic.properties = cyclic
    for (const given of [undefined, null, 'acme', [], () => 1, new Map(), { toJSON() {} }, cyclic] as never[])
      for (const call of [
        () => client.getOrCreate(given),
        () => client.updateUserGroup('acme', given),
        () => client.updateTeam(given),
        () => client.createSchema(given),
      ])
        assert.match((await failure(call())).message, /^The request (must|cannot|is nothing)/)
    for (const given of [null, 'acme', 1] as never[])
      assert.equal((await failure(client.listUserGroups(given))).code, 'invalid_request')
    for (const options of [null, 'acme', 1] as never[])
      assert.equal((await failure(client.rotate('ugt_x', options))).code, 'invalid_request')
  })

  it('is what JSON.stringify makes of it otherwise', () => {
    const body = { a: 2 ** 53 - 1, b: 1.5e-7, c: [null, undefined, true], d: new Date(0), e: undefined, '': { '': '' } }
    assert.equal(bodyText(body), JSON.stringify(body))
    const tagged = { x: 1, [Symbol.toStringTag]: 'Point' }
    const objects = [new (class Empty {})(), Object.create(null), tagged, new String(''), new Boolean(false), []]
    assert.equal(bodyText({ objects }), '{"objects":[{},{},{"x":1},"",false,[]]}')
  })
})
