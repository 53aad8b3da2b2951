import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { engines } from '../test/support/engines.ts'
import { noon, storeOn } from '../test/support/store.ts'
import { times } from '../test/support/times.ts'
import { keepHistoryShort } from './history.ts'

const second = 1_000
const hour = 3_600 * second
const day = 24 * hour
const [sqlite = assert.fail()] = engines
const silent = { forgot() {}, failed: assert.ifError }

/** Time that passes only here, and leaves the database time enough for its work. */
function passing(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  return async (milliseconds: number) => {
    t.mock.timers.tick(milliseconds)
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate)
  }
}

describe('the history', () => {
  const on = storeOn(sqlite)

  it('is forgotten after so many days, however much it is: soon after the start, every hour, and not once it is stopped', async (t) => {
    const team = await on.newTeam()
    await Promise.all(times(501, (index) => team.make(`oldest ${index}`, {}, noon)))
    await team.make('older', {}, noon + day)
    await team.make('newest', {}, noon + 20 * day)
    const left = async () => (await team.events.list({ after: 0, limit: 1_000 })).items.map(({ subject }) => subject)
    const pass = passing(t)
    let now = noon + 31 * day
    const service = { ...on.service, clock: { now: () => now } }
    const forgotten: [count: number, before: number][] = []
    const stop = keepHistoryShort(service, 30, {
      forgot: (count, before) => forgotten.push([count, before]),
      failed: assert.ifError,
    })
    await pass(9 * second)
    assert.equal((await left()).length, 503, 'nobody waits for it at the start')
    await pass(second)
    assert.deepEqual(await left(), ['older', 'newest'])
    now += second
    await pass(hour - 10 * second)
    assert.deepEqual(await left(), ['newest'])
    assert.deepEqual(forgotten, [
      [501, noon + day],
      [1, noon + day + second],
    ])
    stop()
    now += 100 * day
    await pass(2 * hour)
    assert.deepEqual(await left(), ['newest'])
  })

  it('is kept for ever with 0 days', async (t) => {
    const team = await on.newTeam()
    await team.make('kept', {}, noon)
    const pass = passing(t)
    keepHistoryShort(on.service, 0, silent)
    await pass(2 * hour)
    assert.deepEqual(await team.trail(), ['user_group.created kept'])
  })

  it('that cannot be forgotten now is tried again in an hour', async (t) => {
    const pass = passing(t)
    const failure = new Error('no database')
    const store = { ...on.service.store, pruneHistory: () => Promise.reject(failure) }
    const told: unknown[] = []
    t.after(keepHistoryShort({ ...on.service, store }, 1, { ...silent, failed: (error) => told.push(error) }))
    await pass(10 * second)
    assert.deepEqual(told, [failure])
    await pass(hour)
    assert.deepEqual(told, [failure, failure])
  })
})
