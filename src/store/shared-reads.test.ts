import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Row, shared } from './database.ts'
import { type Asked, SharedReads } from './shared-reads.ts'

const echo = shared<[text: string]>('text')`select $1`

/** A server that answers each with what it asked, when it is told to; it has noted who came together. */
class Server {
  readonly rounds: string[] = []
  answer: () => void = () => assert.fail('nobody has asked')

  readonly ask = (round: readonly Asked[]): Promise<Row[][][]> => {
    const asked = round.map(({ questions }) => questions)
    this.rounds.push(asked.flat(2).join(' '))
    const { promise, resolve } = Promise.withResolvers<Row[][][]>()
    this.answer = () => resolve(asked.map((questions) => questions.map((values) => [values])))
    return promise
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}

describe('reads that wait together', () => {
  it('share a round with those who were answered by the last one and ask again', async () => {
    const server = new Server()
    const reads = new SharedReads(server.ask)
    const first = reads.read(echo, ['first'])
    await turns(5)
    const waiting = reads.read(echo, ['waiting'])
    server.answer()
    assert.deepEqual(await first, [['first']])
    await turns(2)
    const again = reads.read(echo, ['again'])
    await turns(5)
    server.answer()
    assert.deepEqual(await Promise.all([waiting, again]), [[['waiting']], [['again']]])
    assert.deepEqual(server.rounds, ['first', 'waiting again'])
  })

  it('never join a round that has been sent, though they ask the same', async () => {
    const server = new Server()
    const reads = new SharedReads(server.ask)
    const early = reads.read(echo, ['same'])
    await turns(5)
    const late = reads.read(echo, ['same'])
    server.answer()
    await early
    await turns(5)
    server.answer()
    await late
    assert.deepEqual(server.rounds, ['same', 'same'])
  })
})
