import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { assertFound, assertRefused } from './expectations.ts'

const exactNumbers = [
  '0',
  '-0',
  '-0.0',
  '1.50',
  '1e3',
  '1E+3',
  '0.1',
  '-0.30000000000000004',
  '9007199254740991',
  '-9007199254740991',
  '9007199254740992',
  '100000000000000000000',
  '1e21',
  '1.7976931348623157e308',
  '5e-324',
  '0.000000000000000000000',
  '12.340000000000000000000',
]
const inexactNumbers = [
  '9007199254740993',
  '-9007199254740993',
  '12345678901234567890',
  '18446744073709551615',
  '0.12345678901234567890',
  '1234567890.12345678901',
  '9007199254740993.0',
  '9007199254740993e0',
  '1.0000000000000000001',
  '1e309',
  '-1e400',
  '1e-400',
]
const kibibyte = 1024

for (const engine of engines)
  describe(`the properties of a group on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)

    const send = (json: string) =>
      caller.call('GET', '/api/user', { text: `{"user_group_id":"${randomUUID()}","properties":${json}}` })

    it('may be any JSON object', async () => {
      assertFound(await send('{}'), true)
      assertFound(await send('{"":null,"a b":[true,{"x":[]}],"é":"😀","constructor":{"prototype":1}}'), true)
      assertFound(await send('{"__proto__":{"admin":true},"toString":1}'), true)
      assertFound(await send('{"nul":"a\\u0000b","\\u0000":"\\u001f\\u007f\\n","quote":"\\"\\\\"}'), true)
    })

    it('keep their keys, whatever others sent before', async () => {
      const shown = async (json: string) => {
        const text = `{"user_group_id":"${randomUUID()}","properties":${json}}`
        const { token } = (await caller.call('GET', '/api/user', { text })).body.user_group
        return (await caller.verify(token)).body.properties
      }
      assertFound(await send(String.raw`{"region":"eu","Gr\\u0":1}`), true)
      assert.deepEqual(await shown(String.raw`{"region":"eu","Gr\u00f6\u00dfe":"XL"}`), { region: 'eu', Größe: 'XL' })
      assertFound(await send(String.raw`{"height":[],"\\":0}`), true)
      assert.deepEqual(await shown(String.raw`{"height":1,"\"":2}`), { height: 1, '"': 2 })
    })

    it('are refused when they are not an object', async () => {
      for (const json of ['42', 'true', 'null', '"{}"', '[]', '[{}]'])
        assertRefused(await send(json), 'properties', JSON.parse(json))
    })

    it('may take 64 KiB as JSON, counted in bytes, and not one more', async () => {
      assertFound(await send(`{"a":"${'x'.repeat(64 * kibibyte - 8)}"}`), true)
      assertRefused(await send(`{"a":"${'x'.repeat(64 * kibibyte - 7)}"}`), 'properties', '64 KiB and a byte')
      assertFound(await send(`{"a":"${'é'.repeat(32 * kibibyte - 4)}"}`), true)
      assertRefused(await send(`{"a":"${'é'.repeat(32 * kibibyte - 3)}"}`), 'properties', '64 KiB and two bytes')
    })

    it('may be 32 levels deep, and not 33', async () => {
      assertFound(await send(nested(32, '{"a":', '}')), true)
      assertRefused(await send(nested(33, '{"a":', '}')), 'properties', '33 objects')
      assertFound(await send(`{"a":${nested(31, '[', ']')}}`), true)
      assertRefused(await send(`{"a":${nested(32, '[', ']')}}`), 'properties', 'an object of 32 arrays')
    })

    it('are refused for their depth however deep they are, every time', async () => {
      for (let round = 0; round < 20; round++)
        for (const levels of [1000, 10_000, 30_000])
          assertRefused(await send(`{"a":${nested(levels, '[', ']')}}`), 'properties', `${levels} arrays`)
    })

    it('may hold every number that keeps its digits', async () => {
      for (const number of exactNumbers) {
        const answer = await send(`{"id":${number},"in":[${number}]}`)
        assert.equal(answer.status, 200, `${number}: ${JSON.stringify(answer.body)}`)
      }
    })

    it('are refused with a number that would lose digits, and with the advice to send a string', async () => {
      for (const number of inexactNumbers)
        for (const json of [`{"id":${number}}`, `{"a":{"b":[1,{"c":${number}}]}}`, `{"a":1,"b":[ ${number}\n]}`]) {
          const answer = await send(json)
          assertRefused(answer, 'properties', json)
          assert.match(answer.body.error.message, /string/)
        }
    })

    it('name the field that holds such a number', async () => {
      const answer = await send('{"region":"eu","customer_id":12345678901234567890}')
      assert.match(answer.body.error.field, /^properties\b.*customer_id/)
    })

    it('may hold such a number as a string', async () => {
      for (const number of inexactNumbers)
        assertFound(await send(`{"id":"${number}","${number}":"\\"${number}"}`), true)
    })
  })

function nested(levels: number, open: string, close: string): string {
  return `${open.repeat(levels - 1)}${open === '[' ? '[]' : '{}'}${close.repeat(levels - 1)}`
}
