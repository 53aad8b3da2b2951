import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { at, Team } from './team.ts'

/** As JSON, since some of it is no JavaScript object one could write down. */
const awkwardProperties = {
  'nested values': '{"a":{"b":[1,[2,{"c":[]}],{}]},"d":[null,true,false,""]}',
  'text of all kinds':
    '{"é":"e\\u0301","中":"😀","quote":"\\"\\\\/","white":" \\n\\t ","nul":"\\u0000","\\u0000":"\\u001f\\u007f\\u2028"}',
  'keys that every object has':
    '{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":1,"hasOwnProperty":null}',
  'keys that every object has, deep down': '{"a":[{"__proto__":{"x":1},"constructor":"y"}],"b":{"__proto__":[]}}',
  'an array as __proto__': '{"__proto__":["a"],"length":7}',
  'empty keys': '{"":{"":[{"":""}]}}',
  'numbers that keep their digits':
    '{"a":1e21,"b":0.1,"c":1.7976931348623157e308,"d":5e-324,"e":9007199254740991,"f":-0.30000000000000004,"g":100000000000000000000}',
  'numbers as text': '{"id":"12345678901234567890","float":"0.10"}',
  'keys like numbers': '{"1":"one","01":"zero one","1.0":"one point","-1":"minus","4294967295":"big"}',
  'keys that differ in case, form or space only': '{"a":1,"A":2," a":3,"a ":4,"é":5,"e\\u0301":6}',
  'names of the service itself': '{"token":"t","team_id":9,"success":0,"mapping":{"x":1},"properties":{},"$ref":"#/x"}',
  'keys in no order': '{"z":1,"a":2,"m":3,"B":4,"b":5}',
  'many keys': `{${Array.from({ length: 2_000 }, (_, i) => `"key ${i}":${i}`).join()}}`,
} satisfies Record<string, string>

const awkwardMappings = {
  'keys that every object has': '{"__proto__":"a","constructor":"b","toString":"c"}',
  'keys like numbers, and in no order': '{"z":"1","10":"2","9":"3","a":"4"}',
  'text of all kinds': '{"a.b[c]":"ü/😀","中":" ","\\u0000":"\\u0000","\\"":"\\\\"," ":"\\n"}',
  'as many entries as there may be': `{${Array.from({ length: 200 }, (_, i) => `"schema ${i}":"source ${i}"`).join()}}`,
  'the longest keys and values': `{"${'😀'.repeat(255)}":"${'ü'.repeat(255)}"}`,
} satisfies Record<string, string>

for (const engine of engines)
  describe(`what is kept for a user group on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)
    const team = new Team(caller)

    const create = async (id: string, fields: string): Promise<string> => {
      const made = await caller.call('GET', '/api/user', { text: `{"user_group_id":"${id}",${fields}}` })
      assert.equal(made.status, 200, JSON.stringify(made.body))
      return made.body.user_group.token
    }
    const change = async (id: string, text: string) => {
      const changed = await caller.call('PATCH', at('user_groups', id), { text })
      assert.equal(changed.status, 200, JSON.stringify(changed.body))
    }
    /** The same values under the same keys in the same order; -0 is not 0. */
    const assertSame = (actual: unknown, json: string) => {
      assert.deepEqual(actual, JSON.parse(json))
      assert.equal(JSON.stringify(actual), JSON.stringify(JSON.parse(json)))
    }
    const assertKept = async (id: string, token: string, json: string) => {
      assertSame((await team.group(id)).body.user_group.properties, json)
      assertSame((await team.page({ q: id })).body.user_groups[0].properties, json)
      assertSame((await team.verify(token)).body.properties, json)
    }

    for (const [what, json] of Object.entries(awkwardProperties))
      it(`comes back as it was sent, in properties: ${what}`, async () => {
        const [created, changed] = [randomUUID(), randomUUID()]
        await assertKept(created, await create(created, `"properties":${json}`), json)
        const token = await create(changed, '"properties":{"before":1}')
        await change(changed, `{"properties":${json}}`)
        await assertKept(changed, token, json)
      })

    for (const [what, json] of Object.entries(awkwardMappings))
      it(`comes back as it was sent, in a mapping: ${what}`, async () => {
        const [created, changed] = [randomUUID(), randomUUID()]
        const token = await create(created, `"mapping":${json}`)
        await create(changed, '"mapping":{"before":"x"}')
        await change(changed, `{"mapping":${json}}`)
        for (const id of [created, changed]) assertSame((await team.group(id)).body.user_group.mapping, json)
        const { data_sources, unresolved } = (await team.verify(token)).body
        assert.deepEqual(data_sources, {})
        assert.deepEqual([...unresolved].sort(), Object.keys(JSON.parse(json)).sort())
      })

    it('comes back as it was sent, in a name', async () => {
      for (const name of [
        '😀'.repeat(255),
        ' a ',
        '<b>&amp;',
        '\u200b',
        "Robert'); drop table user_group;--",
        '\\u0041',
      ]) {
        const id = randomUUID()
        const { token } = await team.newGroup(id, { name })
        assert.equal((await team.group(id)).body.user_group.name, name)
        assert.equal((await team.verify(token)).body.user_group.name, name)
      }
    })

    it('is its own: properties of one group do not show in another', async () => {
      const polluting = randomUUID()
      await create(polluting, '"properties":{"__proto__":{"polluted":true}},"mapping":{"__proto__":"x"}')
      const clean = randomUUID()
      const { token } = await team.newGroup(clean)
      await assertKept(clean, token, '{}')
      const { body } = await team.verify(token)
      assert.equal('polluted' in body.properties, false)
      assert.ok(!('unresolved' in body))
    })
  })
