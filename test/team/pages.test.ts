import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { assertError } from '../contract/expectations.ts'
import { engines } from '../support/engines.ts'
import { running } from '../support/running.ts'
import { times } from '../support/times.ts'
import { anotherTeam, at, Team, withQuery } from './team.ts'

interface Listed {
  id: string | number
}

const lists = [
  { field: 'schemas', body: () => ({ id: `é\u2028${randomUUID()}${'😀'.repeat(217)}` }) },
  { field: 'data_sources', body: () => ({ schema_id: 'sales' }) },
  { field: 'api_tokens', body: () => ({ name: 'ci', scopes: ['verify'] }) },
]

for (const engine of engines)
  describe(`the pages of a team's other lists on ${engine.name}`, async () => {
    const { caller, environment } = await running(undefined, engine)
    const team = new Team(caller)
    const others = await anotherTeam(caller, environment)
    for (const each of [team, others]) await each.makeSchema({ id: 'sales' })
    for (const id of ['one', 'two']) await team.newGroup(id)

    for (const { field, body } of lists) {
      const path = `/api/${field}`
      const add = async (): Promise<Listed> => {
        const made = await team.send('POST', path, body())
        assert.equal(made.status, 200, JSON.stringify(made.body))
        return made.body[field.slice(0, -1)]
      }
      const page = async (query = {}, from = team) => (await from.send('GET', withQuery(path, query))).body
      const pages = async (limit: number, meanwhile: (page: Listed[]) => unknown = () => {}) => {
        const ids: (string | number)[][] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const read = await page(cursor === undefined ? { limit } : { limit, cursor })
          ids.push(read[field].map(({ id }: Listed) => id))
          await meanwhile(read[field])
          cursor = read.next_cursor
        }
        return ids
      }

      it(`of ${field} are as long as asked for, the newest last, also of those made in the same moment`, async () => {
        await Promise.all(times(7, add))
        const all = (await page({ limit: 200 }))[field].map(({ id }: Listed) => id)
        for (const limit of [1, 3, all.length - 1, all.length, 200]) {
          const expected = times(Math.ceil(all.length / limit), (n) => all.slice(n * limit, (n + 1) * limit))
          assert.deepEqual(await pages(limit), expected, `limit ${limit}`)
        }
        const { id } = await add()
        assert.deepEqual((await pages(3)).flat(), [...all, id])
      })

      it(`of ${field} go on behind what was deleted or made meanwhile`, async () => {
        const made: Listed[] = []
        for (let i = 0; i < 5; i++) made.push(await add())
        const added: Listed[] = []
        const seen = await pages(2, async (read) => {
          for (const { id } of read)
            if (made.some((each) => each.id === id)) await team.send('DELETE', at(field, String(id)))
          if (added.length < 2) added.push(await add())
        })
        const ids = [...made, ...added].map(({ id }) => id)
        assert.deepEqual(seen.flat().slice(-ids.length), ids)
      })

      it(`of ${field} hold 100 unless another number from 1 to 200 is asked for`, async () => {
        const missing = 101 - (await page({ limit: 200 }))[field].length
        await Promise.all(times(missing, add))
        const { [field]: items, next_cursor } = await page()
        assert.equal(items.length, 100)
        assert.equal((await page({ cursor: next_cursor }))[field].length, 1)
        for (const limit of ['0', '201', '1.5', ''])
          assertError(await team.send('GET', withQuery(path, { limit })), 400, 'invalid_request', 'limit')
      })

      it(`of ${field} begin at a cursor of this list and at nothing else`, async () => {
        const written = (text: string) => Buffer.from(text).toString('base64url')
        const named = (text: string) => written(`${field} ${text}`)
        const { next_cursor } = await page({ limit: 1 })
        for (const cursor of [
          ...['', 'x', `${next_cursor}A`, 'A'.repeat(5_000)],
          ...['', 'after', 'after ', 'after x', 'after 1 ', 'after 1 a\0b', 'after 01 a', 'after -1'].map(named),
          field === 'api_tokens' ? named('after 1 a') : named('after 1'),
        ])
          assertError(await team.send('GET', withQuery(path, { cursor })), 400, 'invalid_request', 'cursor')
      })

      it(`of ${field} do not begin at a cursor of another list, nor another list at one of theirs`, async () => {
        const { next_cursor } = await page({ limit: 1 })
        const ofGroups = (await team.page({ limit: 1 })).body.next_cursor
        for (const cursor of [next_cursor, ofGroups]) assert.equal(typeof cursor, 'string')
        assertError(await team.send('GET', withQuery(path, { cursor: ofGroups })), 400, 'invalid_request', 'cursor')
        for (const other of ['user_groups', ...lists.map((each) => each.field)].filter((each) => each !== field)) {
          const answer = await team.send('GET', withQuery(`/api/${other}`, { cursor: next_cursor }))
          assertError(answer, 400, 'invalid_request', 'cursor')
        }
      })

      it(`of ${field} are only the team's own, whatever the cursor`, async () => {
        const theirs = await page({}, others)
        assert.equal(theirs.next_cursor, null)
        const mine = new Set((await pages(200)).flat())
        const { next_cursor } = await page({ limit: 1 })
        const found: Listed[] = [...theirs[field], ...(await page({ cursor: next_cursor }, others))[field]]
        assert.ok(found.every(({ id }) => id === 'sales' || !mine.has(id)))
      })
    }
  })
