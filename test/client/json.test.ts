import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseJson } from '../../client/src/json.ts'
import { clientOf, runningOnSqlite } from './client.ts'

/** What V8 mixes up, and what objects treat in a way of its own. */
const key = fc.oneof(
  fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'u0', 'a', 'ö', ':', '\ud800', ' '), maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', '0', '7', '-1', 'key 0'),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(key, fc.integer(), fc.constantFrom(null, true)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
}))

describe("the client's reading of an answer", () => {
  it('takes no key for one of an answer before, however it is escaped', () => {
    parseJson(String.raw`{"region":"eu","Gr\\u0":1}`)
    const escaped = String.raw`{"region":"eu","Gr\u00f6\u00dfe":"XL","in":[{"region":2,"Gr\u00f6\u00dfe":3}]}`
    assert.deepEqual(parseJson(escaped), { region: 'eu', Größe: 'XL', in: [{ region: 2, Größe: 3 }] })
    parseJson(String.raw`{"h":[],"\\":0}`)
    assert.deepEqual(parseJson(String.raw`{"h":1,"\"":2}`), { h: 1, '"': 2 })
  })

  it('gives any values as they were sent, their keys in their order', () => {
    fc.assert(
      fc.property(value, (sent) => {
        const read = parseJson(JSON.stringify(sent))
        assert.deepEqual(read, sent)
        assert.equal(JSON.stringify(read), JSON.stringify(sent))
      }),
      { numRuns: 2_000 },
    )
  })

  it('lets the last of two same keys count, also where one is escaped', () => {
    const twice = String.raw`{"ö":1,"\u00f6":2,"\"":3,"\u0022":4,"__proto__":5,"\u005f_proto__" : 6}`
    assert.deepEqual(Object.entries(parseJson(twice) as object), [
      ['ö', 2],
      ['"', 4],
      ['__proto__', 6],
    ])
  })

  it('refuses what is not JSON', () => {
    for (const text of ['', '{"a\\"":1', `{"a":"${'\\"'.repeat(1000)}`, String.raw`{"\q":1}`, '{"\\"a"\u00a0:1}'])
      assert.throws(() => parseJson(text), SyntaxError, text)
  })
})

describe('the client, asked for properties', async () => {
  const there = await runningOnSqlite()
  const client = clientOf(there.service.url)

  it('mixes up the keys of no two user groups', async () => {
    const groups = { first: { h: [], '\\': 0 }, second: { h: 1, '"': 2 } }
    for (const [user_group_id, properties] of Object.entries(groups))
      await client.getOrCreate({ user_group_id, properties })
    for (const [id, properties] of Object.entries(groups))
      assert.deepEqual((await client.getUserGroup(id)).user_group.properties, properties)
  })
})
