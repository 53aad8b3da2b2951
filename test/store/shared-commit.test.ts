import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { readConfig } from '../../src/config.ts'
import { ServiceError } from '../../src/errors.ts'
import { type Database, run, shared, sql, UniqueViolation, type Work } from '../../src/store/database.ts'
import { record } from '../../src/store/events.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { type Engine, engines } from '../support/engines.ts'
import { keyOf, nobodysToken, noon, storeOn } from '../support/store.ts'
import { times } from '../support/times.ts'

const create = sql`create table note (id bigint primary key, text text not null)`
const insert = sql<[id: number]>`insert into note (id, text) values ($1, $2) returning id`
const insertUnasked = sql`insert into note (id, text) values ($1, $2)`
const change = shared<[id: number, text: string]>('bigint')`
  update note set text = 'new' where id = $1 returning id, text`
// Whether there is such a note is asked at the commit.
const createReply = sql`
  create table reply (id bigint primary key, note bigint references note (id) deferrable initially deferred)`
const insertReply = sql`insert into reply (id, note) values ($1, $2)`
const all = sql<[id: number, text: string]>`select id, text from note order by id`

async function newDatabase(t: TestContext, engine: Engine): Promise<Database> {
  const { environment, remove } = await engine.freshDatabase()
  const { database: at } = readConfig(environment)
  const database = at.engine === 'sqlite' ? openSqlite(at.path) : await openPostgres(at.url)
  t.after(async () => {
    await database.close()
    await remove()
  })
  await database.exclusively(() => run(create))
  return database
}

class Refused extends Error {}

const countNotes = shared<[count: number]>('bigint')`select count(*) from note where id < $1`

for (const engine of engines)
  describe(`writes that wait together on ${engine.name}`, () => {
    it('fail each for itself, whichever way and at whichever step, and the others are kept', async (t) => {
      const database = await newDatabase(t, engine)
      const ways = {
        *kept(id: number) {
          yield* run(insert, id, 'kept')
          return (yield* run(insert, id + 1_000, 'kept too')).length
        },
        'throws before the first step'(): Work<never> {
          throw new Refused()
        },
        *'throws between its steps'(id: number) {
          yield* run(insert, id, 'half')
          throw new Refused()
        },
        *'throws after its last step'(id: number) {
          yield* run(insert, id, 'half')
          yield* run(insert, id + 1_000, 'half')
          throw new ServiceError('token_not_found')
        },
        *'breaks a constraint'(id: number) {
          yield* run(insert, id + 1_000, 'half')
          yield* run(insert, id + 1_000, 'again')
        },
        *'breaks a constraint with what nobody waits for'(id: number) {
          yield* run(insert, id, 'half')
          yield* run(insertUnasked, id, 'again')
        },
        *'sends bad values'(id: number) {
          yield* run(insert, id, 'half')
          yield* run(insert, id + 1_000, null)
        },
      }
      const works = times(140, (id) => Object.entries(ways)[id % 7] ?? assert.fail())
      const writes = works.map(([, way], id) => {
        const work = () => way(id)
        return id % 2 === 0
          ? database.write<unknown>(work, 'once')
          : database.writeTogether<unknown>(`note ${id}`, work)
      })
      for (const [id, outcome] of (await Promise.allSettled(writes)).entries())
        assert.equal(outcome.status, works[id]?.[0] === 'kept' ? 'fulfilled' : 'rejected', String(works[id]?.[0]))
      const kept = times(20, (index) => index * 7)
      assert.deepEqual(await database.read(all), [
        ...kept.map((id) => [id, 'kept']),
        ...kept.map((id) => [id + 1_000, 'kept too']),
      ])
    })

    it('get their own rows back of an update that they share', async (t) => {
      const database = await newDatabase(t, engine)
      await database.write(function* () {
        for (const id of [1, 2, 3]) yield* run(insertUnasked, id, 'old')
      }, 'once')
      const found = await Promise.all([3, 9, 1].map((id) => database.writeTogether(`${id}`, () => run(change, id))))
      assert.deepEqual(found, [[[3, 'new']], [], [[1, 'new']]])
    })

    it('keep nothing of one that fails behind a step that nobody waits for', async (t) => {
      const database = await newDatabase(t, engine)
      const kept = database.writeTogether('one', () => run(insert, 1, 'kept'))
      const failing = database.writeTogether('other', function* () {
        yield* run(insertUnasked, 2, 'half')
        throw new Refused()
      })
      await assert.rejects(failing, Refused)
      await kept
      assert.deepEqual(await database.read(all), [[1, 'kept']])
    })

    it('get their own error back', async (t) => {
      const database = await newDatabase(t, engine)
      const errors = times(30, (id) => new Refused(`write ${id}`))
      const failing = (error: Error, id: number) => {
        const work = function* () {
          if (id % 3 > 0) yield* run(insert, 1, 'half')
          throw error
        }
        return id % 2 === 0 ? database.write(work, 'once') : database.writeTogether(`note ${id}`, work)
      }
      for (const [id, outcome] of (await Promise.allSettled(errors.map(failing))).entries())
        assert.equal(outcome.status === 'rejected' && outcome.reason, errors[id])
      assert.deepEqual(await database.read(all), [])
    })

    it('hear why they failed, however many of their steps were on their way behind the one that did', async (t) => {
      const database = await newDatabase(t, engine)
      const works: Record<string, () => Work<unknown>> = {
        *'the last step'() {
          yield* run(insert, 1, 'half')
          yield* run(insertUnasked, 1, 'again')
        },
        *'one before others'() {
          yield* run(insertUnasked, 1, 'half')
          yield* run(insertUnasked, 1, 'again')
          yield* run(insertUnasked, 2, 'half')
          yield* run(insert, 3, 'half')
          yield* run(insertUnasked, 4, 'half')
        },
      }
      for (const [name, work] of Object.entries(works))
        for (const write of [() => database.write(work, 'once'), () => database.writeTogether('note 1', work)]) {
          await assert.rejects(write(), UniqueViolation, name)
          assert.deepEqual(await database.read(all), [], name)
        }
      await database.write(() => run(insert, 1, 'kept'), 'once')
      assert.deepEqual(await database.read(all), [[1, 'kept']])
    })

    it('that give up with steps still unsent leave nothing behind, and the connection as it was', async (t) => {
      const database = await newDatabase(t, engine)
      const { connections } = database.stats()
      const write = database.write(function* () {
        yield* run(insertUnasked, 1, 'half')
        yield* run(insertUnasked, 1, 'again')
        throw new Refused()
      }, 'once')
      await assert.rejects(write)
      assert.equal(database.stats().connections, connections)
      assert.deepEqual(await database.read(all), [])
    })

    it('are all there for every reader once they are answered', async (t) => {
      const database = await newDatabase(t, engine)
      const write = async (id: number) => {
        await database.write(() => run(insert, id, 'x'), 'once')
        const seen = await database.read(all)
        assert.ok(
          seen.some(([known]) => known === id),
          `${id} is not there after its answer`,
        )
      }
      await Promise.all(times(50, write))
    })

    it('do not disturb those that want to be alone, nor are disturbed by them', async (t) => {
      const database = await newDatabase(t, engine)
      const works = times(60, (id) => {
        const work = function* () {
          yield* run(insert, id, 'x')
          if (id % 5 === 0) throw new Refused()
        }
        return id % 3 === 0 ? database.exclusively(work) : database.write(work, 'once')
      })
      const outcomes = await Promise.allSettled(works)
      assert.deepEqual(
        outcomes.flatMap(({ status }, id) => (status === 'rejected' ? [id] : [])),
        times(12, (index) => index * 5),
      )
      assert.equal((await database.read(all)).length, 48)
    })

    it('that fail only as they are committed are told so, and nothing of them is kept', async (t) => {
      const database = await newDatabase(t, engine)
      await database.exclusively(() => run(createReply))
      const ways: Record<string, (work: () => Work<unknown>) => Promise<unknown>> = {
        'a write': (work) => database.write(work, 'once'),
        'one that may be repeated': (work) => database.write(work, 'repeatable'),
        'one that shares its commit': (work) => database.writeTogether('note 1', work),
        'one that keeps all others out': (work) => database.exclusively(work),
      }
      for (const [name, write] of Object.entries(ways)) {
        const work = function* () {
          yield* run(insert, 1, 'half')
          yield* run(insertReply, 1, 2)
        }
        await assert.rejects(write(work), name)
        assert.deepEqual(await database.read(all), [], name)
      }
    })

    it('leave no event behind when they fail before they have written anything', async (t) => {
      // It has no table for events: one that is left would fail the others.
      const database = await newDatabase(t, engine)
      const failing = database.writeTogether('note 1', function* () {
        yield* record({ teamId: 1, by: null }, 'user_group.created', 'acme', noon)
        throw new Refused()
      })
      const kept = database.writeTogether('note 2', () => run(insert, 2, 'kept'))
      await assert.rejects(failing, Refused)
      assert.deepEqual(await kept, [[2]])
    })

    it('go one behind the other when they are about the same thing', async (t) => {
      const database = await newDatabase(t, engine)
      const first = database.writeTogether('note 1', function* () {
        yield* run(insert, 1, 'x')
        yield* run(insert, 2, 'x')
      })
      const second = database.writeTogether('note 1', () => run(all))
      await first
      assert.equal((await second).length, 2)
    })

    it('are counted as long as they wait, with those that wait for a connection', async (t) => {
      const database = await newDatabase(t, engine)
      const add = (id: number) =>
        function* () {
          yield* run(insert, id, 'x')
        }
      const together = times(20, (id) => database.writeTogether(`note ${id}`, add(id)))
      assert.equal(database.stats().waiting, 20)
      const alone = times(20, (id) => database.write(add(100 + id), 'once'))
      assert.equal(database.stats().waiting, 40)
      await Promise.all([...together, ...alone])
      const { waiting, idle, connections } = database.stats()
      assert.deepEqual({ waiting, idle }, { waiting: 0, idle: connections })
    })
  })

describe('writes that wait together on SQLite', () => {
  const [sqlite = assert.fail()] = engines
  const on = storeOn(sqlite)

  it('share a commit, good and bad ones alike', async () => {
    const team = await on.newTeam()
    const { token } = await team.make('acme')
    const { commits } = on.service.store.stats()
    const seal = () => assert.fail('no key')
    const outcomes = await Promise.allSettled(
      times(200, (index) => {
        if (index % 4 === 0) return team.make(`group ${index}`)
        if (index % 4 === 1) return team.rotate(nobodysToken(on.service))
        if (index % 4 === 2)
          return team.userGroups.replaceToken(keyOf(on.service.tokens, token), { seal, graceSeconds: 0 }, noon)
        return team.apiTokens.add(on.newApiToken(), noon)
      }),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 100)
    assert.equal((await team.userGroups.list({ after: 0, limit: 200 })).items.length, 51)
    assert.equal((await team.apiTokens.all()).length, 50)
    assert.ok(on.service.store.stats().commits - commits <= 3, `${on.service.store.stats().commits - commits} commits`)
    await team.rotate(token)
  })
})

for (const engine of engines)
  describe(`creates and rotations that wait together on ${engine.name}`, () => {
    const on = storeOn(engine)

    it('share a few commits, and each still has its own outcome', async () => {
      const team = await on.newTeam()
      const made = await Promise.all(times(60, (index) => team.make(`group ${index}`)))
      const { commits } = on.service.store.stats()
      const works = times(120, (index) => {
        if (index % 3 === 0) return team.make(`new ${index % 30}`)
        const { token } = made[index % 60] ?? assert.fail()
        return index % 3 === 1 ? team.rotate(token) : team.rotate(nobodysToken(on.service))
      })
      const outcomes = await Promise.allSettled(works)
      // Forty ask for ten new groups, forty rotate twenty tokens twice, and forty rotate tokens nobody has.
      const kinds = outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code))
      assert.deepEqual(
        Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, of]) => [kind, of.length])),
        { done: 40 + 20, token_already_rotated: 20, token_not_found: 40 },
      )
      assert.equal((await team.userGroups.list({ after: 0, limit: 200 })).items.length, 70)
      assert.ok(
        on.service.store.stats().commits - commits <= 4,
        `${on.service.store.stats().commits - commits} commits`,
      )
      const trail = await team.trail()
      assert.equal(trail.filter((line) => line.startsWith('user_group.created new')).length, 10)
      assert.equal(trail.filter((line) => line.startsWith('user_group.token_rotated')).length, 20)
    })

    it('are done one by one when one of them would spoil the others', async () => {
      const team = await on.newTeam()
      await team.settings.update({ strictMapping: true }, noon)
      const works = times(20, (index) =>
        team.make(`group ${index}`, index === 7 ? { mapping: { sales: 'nowhere' } } : {}),
      )
      const outcomes = await Promise.allSettled(works)
      assert.deepEqual(
        outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : [])),
        [7],
      )
      assert.equal((await team.trail()).length, 1 + 19)
    })
  })

describe('reads that wait together on SQLite', () => {
  it('see nothing of a write that is under way when they are asked for, whichever way it ends', async (t) => {
    const [sqlite = assert.fail()] = engines
    const database = await newDatabase(t, sqlite)
    const reads: Promise<unknown>[] = []
    const write = (id: number, end: () => void) =>
      database.write(function* () {
        yield* run(insert, id, 'x')
        reads.push(...times(2, () => database.read(countNotes, 10)))
        end()
      }, 'once')
    const failing = write(1, () => {
      throw new Refused()
    })
    await assert.rejects(failing, Refused)
    await write(2, () => {})
    assert.deepEqual(await Promise.all(reads), [[[0]], [[0]], [[1]], [[1]]])
  })
})
