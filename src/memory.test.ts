import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Memory } from './memory.ts'

describe('what the service remembers', () => {
  it('is kept while nothing changes, and forgotten with the first change', async () => {
    let version = 1
    const memory = new Memory(() => version)
    const answers = ['first', 'second']
    const read = async () => answers.shift()
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'first')
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'first')
    version = 2
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', read), 'second')
  })

  it('is nothing that was read before a change that another request found meanwhile', async () => {
    let version = 1
    const memory = new Memory(() => version)
    memory.refresh()
    const slow = Promise.withResolvers<string>()
    const reading = memory.recall('token', 1, 'name', () => slow.promise)
    version = 2
    memory.refresh()
    slow.resolve('too early')
    assert.equal(await reading, 'too early')
    assert.equal(await memory.recall('token', 1, 'name', async () => 'in time'), 'in time')
  })

  it('is nothing that was read while something changed, once the change is found', async () => {
    let version = 1
    const memory = new Memory(() => version)
    memory.refresh()
    memory.recall('token', 1, 'name', () => {
      version = 2
      return 'too early'
    })
    memory.refresh()
    assert.equal(
      memory.recall('token', 1, 'name', () => 'in time'),
      'in time',
    )
  })

  it('is nothing at all where the database cannot tell whether anything changed', async () => {
    const memory = new Memory(() => undefined)
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', async () => 1), 1)
    memory.refresh()
    assert.equal(await memory.recall('token', 1, 'name', async () => 2), 2)
  })

  it('is nothing that was not there', () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    assert.equal(
      memory.recall('token', 1, 'name', () => undefined),
      undefined,
    )
    assert.equal(
      memory.recall('token', 1, 'name', () => 'there now'),
      'there now',
    )
  })

  it('is never of another team, kind or name', () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    const names = Array.from({ length: 2_000 }, (_, index) => `name ${index}`)
    const places = names.flatMap((name) =>
      ([1, 2, 0x1000001] as const).flatMap((team) =>
        (['caller', 'user_group', 'token'] as const).map((kind) => [kind, team, name] as const),
      ),
    )
    for (const place of places) memory.recall(...place, () => place)
    for (const place of places)
      assert.deepEqual(
        memory.recall<readonly unknown[]>(...place, () => place),
        place,
      )
  })
})
