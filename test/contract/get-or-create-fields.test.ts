import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { assertError, assertFound, assertRefused } from './expectations.ts'

const controlCharacters = [...codePoints(0x00, 0x1f), ...codePoints(0x7f, 0x9f)]
const loneSurrogates = ['\ud800', '\udbff', '\udc00', '\udfff', '\udc00\ud800', '\ud83d\ud83d\ude00']
const notStrings = [42, 0, -1.5, true, false, null, [], ['acme'], {}, { id: 'acme' }]
const notObjects = [42, true, null, 'sales', '{}', [], [['sales', 'db']]]

for (const engine of engines)
  describe(`the fields of get or create on ${engine.name}`, async () => {
    const { caller } = await running(undefined, engine)

    const withMapping = (mapping: unknown) => caller.getOrCreate(randomUUID(), { mapping })

    it('requires user_group_id, and nothing else', async () => {
      assertFound(await caller.getOrCreate(randomUUID()), true)
      const others = { name: 'Acme', mapping: {}, properties: {} }
      for (const json of [{}, others, { User_Group_Id: 'acme' }, { provided_id: 'acme' }])
        assertError(await caller.call('GET', '/api/user', { json }), 400, 'invalid_request', 'user_group_id')
    })

    it('takes 42 for a mistake and "42" for an id', async () => {
      assertError(await caller.getOrCreate(42), 400, 'invalid_request', 'user_group_id')
      assertFound(await caller.getOrCreate('42'), true)
    })

    for (const field of ['user_group_id', 'name']) {
      const send = (value: unknown) => caller.getOrCreate(randomUUID(), { [field]: value })

      it(`refuses a ${field} that is not a string`, async () => {
        for (const value of notStrings) assertRefused(await send(value), field, value)
      })

      it(`counts the characters of ${field}, not their bytes: 255 are enough`, async () => {
        for (const character of ['x', 'ü', '中', '😀', '\u0301']) {
          const longest = character.repeat(255)
          const made = await send(longest)
          assertFound(made, true)
          assert.equal(made.body.user_group[field === 'name' ? 'name' : 'provided_id'], longest)
          assertRefused(await send(character.repeat(256)), field, `256 × ${character}`)
        }
        assertRefused(await send(''), field, '')
      })

      it(`refuses control characters in ${field}: C0, DEL and C1`, async () => {
        for (const character of controlCharacters)
          for (const value of [character, `acme${character}`, `${character}acme`])
            assertRefused(await send(value), field, value)
        for (const character of ['\u0020', '\u007e', '\u00a0']) assertFound(await send(`${field}${character}`), true)
      })

      it(`refuses a ${field} with half a character`, async () => {
        for (const half of loneSurrogates)
          for (const value of [half, `acme${half}x`]) {
            const answer = await send(value)
            assertRefused(answer, field, value)
            assert.match(answer.body.error.message, /without control characters or lone surrogates/)
          }
      })
    }

    it('refuses a mapping that is not an object of strings', async () => {
      for (const mapping of notObjects) assertRefused(await withMapping(mapping), 'mapping', mapping)
      for (const value of notStrings) assertRefused(await withMapping({ ok: 'db', sales: value }), 'mapping', value)
    })

    it('takes an empty mapping, and one of 200 entries, and not one of 201', async () => {
      assertFound(await withMapping({}), true)
      assertFound(await withMapping(entries(200)), true)
      assertRefused(await withMapping(entries(201)), 'mapping', '201 entries')
    })

    it('takes mapping keys and values of 1 to 255 characters', async () => {
      for (const character of ['x', '😀']) {
        const [longest, tooLong] = [character.repeat(255), character.repeat(256)]
        assertFound(await withMapping({ [longest]: longest }), true)
        assertRefused(await withMapping({ [tooLong]: 'db' }), 'mapping', 'a key of 256')
        assertRefused(await withMapping({ sales: tooLong }), 'mapping', 'a value of 256')
      }
      assertRefused(await withMapping({ '': 'db' }), 'mapping', 'an empty key')
      assertRefused(await withMapping({ sales: '' }), 'mapping', 'an empty value')
    })

    it('looks at the value of every mapping key, however odd the key', async () => {
      for (const key of ['\n', 'a\nb', '__proto__', 'constructor', 'toString', 'length', '0', '.', '😀', '\u2028'])
        for (const value of [42, '', null, 'x'.repeat(256), { a: 'b' }]) {
          const text = `{"user_group_id":"${randomUUID()}","mapping":{${JSON.stringify(key)}:${JSON.stringify(value)}}}`
          assertRefused(await caller.call('GET', '/api/user', { text }), 'mapping', { [key]: value })
        }
      for (const key of ['\n', '\u0000', '__proto__', 'constructor', 'toString', '.', '0']) {
        const text = `{"user_group_id":"${randomUUID()}","mapping":{${JSON.stringify(key)}:"db"}}`
        assertFound(await caller.call('GET', '/api/user', { text }), true)
      }
    })
  })

function entries(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`schema ${index}`, 'db']))
}

function codePoints(first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index))
}
