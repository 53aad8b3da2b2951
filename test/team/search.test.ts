import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { ugs } from '../support/service-process.ts'
import { times } from '../support/times.ts'
import { Team } from './team.ts'

for (const engine of engines)
  describe(`searching user groups by a beginning on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const found = async (q: string) => (await team.pages({ q })).flat()

    it('finds by the beginning of the id or of the name, each group once, and not by the middle', async () => {
      await team.newGroup('north-1', { name: 'Something' })
      await team.newGroup('other-1', { name: 'north sea' })
      await team.newGroup('north-2', { name: 'north pole' })
      await team.newGroup('far-north', { name: 'far north' })
      assert.deepEqual(await found('north'), ['north-1', 'other-1', 'north-2'])
      assert.deepEqual(await found('north-2'), ['north-2'])
      assert.deepEqual(await found('north-23'), [])
    })

    it('does not regard ASCII case, in the search, the id or the name', async () => {
      for (const id of ['CASE-upper', 'case-lower', 'CaSe-MiXeD', 'caſe-long-s']) await team.newGroup(id, { name: '-' })
      await team.newGroup('-', { name: 'cAsE by name' })
      for (const q of ['case', 'CASE', 'cAsE'])
        assert.deepEqual(await found(q), ['CASE-upper', 'case-lower', 'CaSe-MiXeD', '-'], q)
      assert.deepEqual(await found('CASE-MIXED'), ['CaSe-MiXeD'])
    })

    it('regards the case, the accents and the form of what is not ASCII', async () => {
      const ids = [
        'Österreich',
        'österreich',
        'O\u0308sterreich',
        'Osterreich',
        'ÖSTERREICH',
        '日本',
        '😀 smile',
        'İstanbul',
      ]
      for (const id of ids) await team.newGroup(id)
      assert.deepEqual(await found('Ö'), ['Österreich', 'ÖSTERREICH'])
      assert.deepEqual(await found('ÖsTeR'), ['Österreich', 'ÖSTERREICH'])
      assert.deepEqual(await found('ö'), ['österreich'])
      assert.deepEqual(await found('o\u0308'), ['O\u0308sterreich'])
      assert.deepEqual(await found('o'), ['other-1', 'O\u0308sterreich', 'Osterreich'])
      assert.deepEqual(await found('日'), ['日本'])
      assert.deepEqual(await found('😀'), ['😀 smile'])
      assert.deepEqual(await found('İ'), ['İstanbul'])
      assert.deepEqual(await found('ist'), [])
    })

    it('takes every character for itself', async () => {
      const specials = [
        '%',
        '_',
        '\\',
        "'",
        '"',
        '*',
        '?',
        '[a]',
        '(',
        '+',
        '&',
        '#',
        '/',
        ';',
        '--',
        '$1',
        '\\%',
        '{}',
      ]
      for (const special of specials) await team.newGroup(`${special} x`)
      for (const special of specials) {
        const expected = specials.filter((other) => other.startsWith(special)).map((other) => `${other} x`)
        assert.deepEqual(await found(special), expected, special)
        assert.deepEqual(await found(`${special} X`), [`${special} x`], special)
      }
      await team.newGroup('a_c')
      await team.newGroup('abc')
      assert.deepEqual(await found('a_'), ['a_c'])
      assert.deepEqual(await found('a%'), [])
    })

    it('keeps to the beginning at the ends of the alphabet', async () => {
      const last = '\u{10ffff}'
      for (const id of [
        '\ud7ffa',
        '\ue000a',
        '\uffffa',
        '\u{10000}a',
        '\u{1f600}',
        last,
        `${last}${last}z`,
        'zz',
        'z{',
        '@@',
        '[[',
      ])
        await team.newGroup(id, { name: '-' })
      assert.deepEqual(await found('\ud7ff'), ['\ud7ffa'])
      assert.deepEqual(await found('\ue000'), ['\ue000a'])
      assert.deepEqual(await found('\uffff'), ['\uffffa'])
      assert.deepEqual(await found('\u{10000}'), ['\u{10000}a'])
      assert.deepEqual(await found('z'), ['zz', 'z{'])
      assert.deepEqual(await found('Z'), ['zz', 'z{'])
      assert.deepEqual(await found('@'), ['@@'])
      assert.deepEqual(await found('['), ['[a] x', '[['])
    })

    it('finds what begins with the last character there is', async () => {
      const last = '\u{10ffff}'
      assert.deepEqual(await found(last), [last, `${last}${last}z`])
      assert.deepEqual(await found(`${last}${last}`), [`${last}${last}z`])
    })

    it('finds an id of 255 characters, and refuses a search that is longer, empty or not text', async () => {
      const long = '😀'.repeat(255)
      await team.newGroup(long)
      assert.deepEqual(await found(long), [long])
      for (const q of ['', 'x'.repeat(256), '\u0000', 'a\u0007', 'a\n'])
        assertError(await team.page({ q }), 400, 'invalid_request', 'q')
    })

    it('follows a new name and a new id at once, and forgets the old ones and what is deleted', async () => {
      const [old, fresh] = [randomUUID(), randomUUID()]
      await team.newGroup(`${old} id`, { name: `${old} name` })
      await team.change(`${old} id`, { name: `${fresh} name` })
      assert.deepEqual(await found(`${old} n`), [])
      assert.deepEqual(await found(fresh.toUpperCase()), [`${old} id`])
      await team.change(`${old} id`, { provided_id: `${fresh} id` })
      assert.deepEqual(await found(old), [])
      assert.deepEqual(await found(`${fresh} i`), [`${fresh} id`])
      await team.remove(`${fresh} id`)
      assert.deepEqual(await found(fresh), [])
    })

    it('walks thousands of matches without a miss or a repetition, while they become too many or too few to sort', async (t) => {
      // Some match by id, some by name, and some not at all.
      const wish = (i: number) =>
        i % 3 === 0 ? { user_group_id: `Many ${i}` } : { user_group_id: `x${i}`, name: `MANY ${i}` }
      const passing = times(60, (i) => ({ user_group_id: `mANY passing ${i}` }))
      await importAll(t, [...times(1_980, wish), ...times(500, (i) => ({ user_group_id: `Man ${i}` })), ...passing])
      await Promise.all(passing.map(({ user_group_id }) => team.remove(user_group_id)))

      const growing = await team.pages({ q: 'many ', limit: 200 }, async (page) => {
        if (page[0] === 'Many 0')
          await Promise.all(times(60, (i) => team.newGroup(wish(1_980 + i).user_group_id, wish(1_980 + i))))
      })
      const expected = times(2_040, (i) => wish(i).user_group_id)
      assert.deepEqual(growing.flat().slice(0, 1_980), expected.slice(0, 1_980))
      assert.deepEqual(growing.flat().slice(1_980).sort(), expected.slice(1_980).sort())
      assert.deepEqual(
        growing.map((page) => page.length),
        [...times(10, () => 200), 40],
      )
      for (const limit of [170, 199])
        assert.deepEqual((await team.pages({ q: 'MANY ', limit })).flat(), growing.flat(), 'the order stays')
      assert.deepEqual(await found('many 77'), ['x77', ...times(10, (i) => wish(770 + i).user_group_id)])

      const shrinking = await team.pages({ q: 'mAnY', limit: 200 }, async (page) => {
        if (page[0] === 'Many 0') await Promise.all(page.slice(0, 60).map((id) => team.remove(id)))
      })
      assert.deepEqual(shrinking.flat(), growing.flat())
    })

    const importAll = async (t: TestContext, groups: readonly object[]) => {
      const folder = mkdtempSync(join(tmpdir(), 'ugs-search-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const file = join(folder, 'groups.jsonl')
      writeFileSync(file, groups.map((group) => `${JSON.stringify(group)}\n`).join(''))
      const { code, stderr } = await ugs(environment, 'user-group', 'import', file)
      assert.equal(code, 0, stderr)
    }
  })
