import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { it } from 'node:test'
import { openPostgres } from '../../src/store/postgres.ts'
import { behindLine } from '../support/behind-line.ts'
import { engines } from '../support/engines.ts'

const [, postgres = assert.fail()] = engines

interface Line {
  far: Socket
  /** The message that has prepared a statement on it. */
  prepared: Buffer
}

it('a pooler that gives a transaction another connection is refused, although it prepares there what is needed', async (t) => {
  const lines = new Map<Socket, Line>()
  const engine = behindLine(postgres, (near, far) => {
    const line: Line = { far, prepared: Buffer.alloc(0) }
    lines.set(near, line)
    far.on('data', (answer) => [...lines].find(([, line]) => line.far === far)?.[0].write(answer))
    near.on('close', () => line.far.destroy())
    near.on('data', (sent: Buffer) => {
      if (sent.toString('latin1', 0, 1) === 'P') line.prepared = sent.subarray(0, 1 + sent.readInt32BE(1))
      if (sent.includes('begin\0')) exchange([...lines.values()])
      line.far.write(sent)
    })
  })
  const { environment, remove } = await engine.freshDatabase()
  t.after(remove)
  await assert.rejects(openPostgres(environment.DATABASE_URL), {
    name: 'OperatorError',
    message: /^The pooler .* forgets/,
  })
})

function exchange([one = assert.fail(), other = assert.fail()]: Line[]): void {
  const { far } = one
  one.far = other.far
  other.far = far
  one.far.write(one.prepared)
}
