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

/** Time stands still, so that whoever is waited for is waited for until the test lets it pass. */
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
  return { server, write, pass }
}

describe('writes that wait together', () => {
  it('share a transaction with those who were answered by the last one and write again', async (t) => {
    const { server, write } = newQueue(t)
    await write('a', 'b')
    await write('c', 'd')
    await server.end()
    await write('a')
    assert.deepEqual(server.transactions, [['a', 'b']], 'it has not waited for b')
    await write('b')
    assert.deepEqual(server.transactions, [
      ['a', 'b'],
      ['c', 'd', 'a', 'b'],
    ])
  })

  it('begin at once when nobody is ahead of them', async (t) => {
    const { server, write } = newQueue(t)
    for (let round = 1; round <= 3; round++) {
      await write('a', 'b')
      assert.equal(server.transactions.length, round)
      await server.end()
    }
  })

  it('do not wait for long, nor soon again, for those who do not come back', async (t) => {
    const { server, write, pass } = newQueue(t)
    await write('a', 'b')
    await write('c', 'd')
    await pass(5)
    await server.end()
    await pass(4)
    assert.equal(server.transactions.length, 1, 'it has waited less than the last one took')
    await pass(1)
    assert.deepEqual(server.transactions[1], ['c', 'd'])
    for (let round = 2; round <= 17; round++) {
      await write(`e ${round}`)
      await server.end()
      assert.deepEqual(server.transactions[round], [`e ${round}`])
    }
    await write('f')
    await server.end()
    assert.equal(server.transactions.length, 18, 'it no longer waits for anybody')
  })

  it('wait again for those of whom half came back', async (t) => {
    const { server, write, pass } = newQueue(t)
    await write('a', 'b')
    await write('c')
    await server.end()
    await write('a')
    await pass(10)
    assert.deepEqual(server.transactions[1], ['c', 'a'])
    await write('d')
    await server.end()
    assert.equal(server.transactions.length, 2)
    await write('c', 'a')
    assert.deepEqual(server.transactions[2], ['d', 'c', 'a'])
  })

  it('do not wait for more when there are as many as can share one', async (t) => {
    const { server, write } = newQueue(t)
    const many = Array.from({ length: 250 }, (_, index) => `${index}`)
    await write('a')
    await write(...many)
    await server.end()
    assert.deepEqual(server.transactions[1], many.slice(0, 200))
  })

  it('do not wait for a transaction that hangs, nor for long for those in it', async (t) => {
    const { server, write, pass } = newQueue(t)
    await write('a')
    await write('b')
    await pass(1_000)
    await pass(10)
    assert.deepEqual(server.transactions, [['a'], ['b']])
  })
})
