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
    assert.equal(await memory.recall('key', read), 'first')
    memory.refresh()
    assert.equal(await memory.recall('key', read), 'first')
    version = 2
    memory.refresh()
    assert.equal(await memory.recall('key', read), 'second')
  })

  it('is nothing that was read while something changed', async () => {
    let version = 1
    const memory = new Memory(() => version)
    memory.refresh()
    await memory.recall('key', async () => {
      version = 2
      return 'too early'
    })
    assert.equal(memory.peek('key'), undefined)
    memory.refresh()
    assert.equal(await memory.recall('key', async () => 'in time'), 'in time')
  })

  it('is nothing at all where the database cannot tell whether anything changed', async () => {
    const memory = new Memory(() => undefined)
    memory.refresh()
    assert.equal(await memory.recall('key', async () => 1), 1)
    memory.refresh()
    assert.equal(await memory.recall('key', async () => 2), 2)
  })

  it('is nothing that was not there', async () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    assert.equal(await memory.recall('key', async () => undefined), undefined)
    assert.equal(await memory.recall('key', async () => 'there now'), 'there now')
  })

  it('is bounded: the oldest goes first', async () => {
    const memory = new Memory(() => 1)
    memory.refresh()
    for (let entry = 0; entry <= 40_000; entry++) await memory.recall(`key ${entry}`, async () => entry)
    assert.equal(memory.peek('key 0'), undefined)
    assert.equal(memory.peek('key 40000'), 40_000)
  })
})
