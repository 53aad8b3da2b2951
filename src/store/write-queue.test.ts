import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SharedWrite } from './shared-writes.ts'
import { WriteQueue } from './write-queue.ts'

/** A server whose transactions end when it is told to; it has noted who shared one. */
class Server {
  readonly transactions: string[][] = []
  #end: () => void = () => assert.fail('no transaction is under way')

  readonly share = (writes: readonly SharedWrite[]): Promise<void> => {
    this.transactions.push(writes.map(({ order }) => order))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#end = resolve
    return promise
  }

  async end(): Promise<void> {
    this.#end()
    this.#end = () => assert.fail('no transaction is under way')
    await fewTurns()
  }
}

async function fewTurns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn()
}

const duration = 5

/** Time passes only when the test lets it. */
function newQueue({ mock }: TestContext) {
  let now = 0
  mock.method(performance, 'now', () => now)
  mock.timers.enable({ apis: ['setTimeout'] })
  const server = new Server()
  const queue = new WriteQueue(server.share)
  const write = async (...orders: string[]) => {
    for (const order of orders) queue.add({ order, work: () => assert.fail(), resolve() {}, reject() {} })
    await fewTurns()
  }
  const pass = async (milliseconds: number) => {
    now += milliseconds
    mock.timers.tick(milliseconds)
    await fewTurns()
  }
  const end = async (milliseconds = duration) => {
    await pass(milliseconds)
    await server.end()
  }
  return { transactions: server.transactions, write, pass, end }
}

describe('writes that wait together', () => {
  it('share a transaction with those who were answered by the last one and write again', async (t) => {
    const { transactions, write, end } = newQueue(t)
    await write('a', 'b')
    await write('c', 'd')
    await end()
    await write('a')
    assert.deepEqual(transactions, [['a', 'b']], 'it has not waited for b')
    await write('b')
    assert.deepEqual(transactions, [
      ['a', 'b'],
      ['c', 'd', 'a', 'b'],
    ])
  })

  it('do so too where nobody was waiting when it ended', async (t) => {
    const { transactions, write, pass, end } = newQueue(t)
    await write('a', 'b')
    await end()
    await pass(duration - 1)
    await write('a')
    assert.deepEqual(transactions, [['a', 'b']], 'it has not waited for b')
    await write('b')
    assert.deepEqual(transactions[1], ['a', 'b'])
  })

  it('begin at once when nobody is ahead of them, nor was a short while ago', async (t) => {
    const { transactions, write, pass, end } = newQueue(t)
    await pass(1_000)
    await write('a', 'b')
    assert.deepEqual(transactions, [['a', 'b']])
    await end()
    await pass(duration)
    await write('a')
    assert.deepEqual(transactions[1], ['a'])
  })

  it('begin at once when all are back', async (t) => {
    const { transactions, write, end } = newQueue(t)
    for (let round = 1; round <= 3; round++) {
      await write('a', 'b')
      assert.equal(transactions.length, round)
      await end()
    }
  })

  it('do not wait for long, nor soon again, for those who do not come back', async (t) => {
    const { transactions, write, pass, end } = newQueue(t)
    await write('a', 'b')
    await write('c', 'd')
    await end()
    await pass(duration - 1)
    assert.equal(transactions.length, 1, 'it has waited less than the last one took')
    await pass(1)
    assert.deepEqual(transactions[1], ['c', 'd'])
    for (let round = 2; round <= 17; round++) {
      await write(`e ${round}`)
      await end()
      assert.deepEqual(transactions[round], [`e ${round}`])
    }
    await write('f')
    await end()
    assert.equal(transactions.length, 18, 'it no longer waits for anybody')
  })

  it('wait a whole millisecond for those of a transaction that took a part of one', async (t) => {
    const { transactions, write, pass, end } = newQueue(t)
    await write('a')
    await write('b')
    await end(0.3)
    await pass(0.9)
    assert.equal(transactions.length, 1)
    await pass(0.1)
    assert.deepEqual(transactions[1], ['b'])
  })

  for (const { back, waitsAgain } of [
    { back: ['a', 'b', 'c'], waitsAgain: true },
    { back: ['a', 'b'], waitsAgain: false },
  ])
    it(`${waitsAgain ? 'wait' : 'do not wait'} again where ${back.length} of four came back in time`, async (t) => {
      const { transactions, write, pass, end } = newQueue(t)
      await write('a', 'b', 'c', 'd')
      await write('e')
      await end()
      await write(...back)
      await pass(duration)
      assert.deepEqual(transactions[1], ['e', ...back])
      await write('f')
      await end()
      assert.equal(transactions.length, waitsAgain ? 2 : 3)
    })

  for (const count of [200, 250])
    it(`do not wait for more when there are as many as can share one: ${count}`, async (t) => {
      const { transactions, write, end } = newQueue(t)
      const many = Array.from({ length: count }, (_, index) => `${index}`)
      await write('a')
      await write(...many)
      await end()
      assert.deepEqual(transactions[1], many.slice(0, 200))
    })

  it('do not wait for a transaction that hangs, nor for long for those in it', async (t) => {
    const { transactions, write, pass } = newQueue(t)
    await write('a')
    await write('b')
    await pass(1_000)
    await pass(10)
    assert.deepEqual(transactions, [['a'], ['b']])
  })
})
