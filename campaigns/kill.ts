import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import type { Premises } from '../test/support/premises.ts'
import { rawCount } from '../test/support/raw-database.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { assertKept, assertWhole, loss } from './kept.ts'
import { onEachEngine } from './on-each-engine.ts'

export const kill: Campaign = {
  promise: 'A process killed in the middle of its writes has lost nothing it acknowledged and left nothing half done.',
  unit: 'rounds on each engine',
  full: 500,
  brief: 2,
  bugs: {
    'an answer before the commit on SQLite': {
      on: 'SQLite',
      shows: new RegExp(`on SQLite, .*(${loss.source})`),
      rewrites: [
        {
          file: 'store/sqlite-writes.ts',
          find: 'this.#commitTogether(this.#queue.splice(0))',
          replace: `const { exec } = this.#connection
            this.#connection.exec = (text) => text === 'commit' || exec.call(this.#connection, text)
            this.#commitTogether(this.#queue.splice(0))
            this.#connection.exec = exec
            await pause(100)
            this.#connection.exec('commit')`,
        },
        // So that nobody finds out by a read in the meantime.
        {
          file: 'store/sqlite.ts',
          find: 'questions.length > 1',
          replace: 'questions.length > 1 && !this.#connection.isTransaction',
        },
      ],
    },
    'an answer before the commit on PostgreSQL': {
      on: 'PostgreSQL',
      shows: new RegExp(`on PostgreSQL, .*(${loss.source})`),
      rewrites: [
        {
          file: 'store/postgres-query.ts',
          find: 'export function askServer(client: pg.PoolClient, queries: readonly Query[], patience?: number): Promise<Row[][]> {',
          // Whatever is asked next waits for the commit, so that nobody finds out before the process is killed.
          replace: `let late: Promise<unknown> = Promise.resolve()
            export function askServer(client: pg.PoolClient, queries: readonly Query[], patience?: number): Promise<Row[][]> {
              if (queries.at(-1)?.statement.text !== 'commit') return late.then(() => ask(client, queries, patience))
              late = late.then(() => new Promise((then) => setTimeout(then, 100))).then(() => ask(client, queries, patience))
              return Promise.resolve([])
            }
            function ask(client: pg.PoolClient, queries: readonly Query[], patience?: number): Promise<Row[][]> {`,
        },
      ],
    },
  },
  async run(attempt) {
    const checked = await onEachEngine(attempt, (premises, onRound) => killRounds(premises, attempt, onRound))
    const groups = checked.reduce((sum, each) => sum + each)
    return `${attempt.size} kills in the middle of writes on each engine, ${groups} groups looked at afterwards, 0 lost, 0 half done`
  },
}

async function killRounds(premises: Premises, { size, random }: Attempt, onRound: (round: number) => void) {
  const earlier: TrackedGroup[] = []
  // Who dies just when all have been answered proves little, and does not count.
  let owing = 0
  let service = await premises.start()
  for (let round = 0; owing < size; round++) {
    assert.ok(round < size * 1.25 + 2, `only ${owing} of ${round} died while answers were owed`)
    const load = new Load(service.caller, `round ${round}`)
    await eventually('the load runs', () => load.acknowledged > 30)
    await pause(random() * 250)
    const killed = service.stop('SIGKILL')
    await load.end()
    await killed
    if (load.groups.some(({ pending }) => pending)) owing += 1
    assert.equal(load.failures.filter((failure) => / \d{3} \{/.test(failure)).join('\n'), '')

    service = await premises.start()
    await assertWhole(premises.environment)
    await Promise.all(load.groups.map((group) => assertKept(service.caller, group)))
    earlier.push(...load.groups)
    assert.equal(await rawCount(premises.environment, 'user_group'), earlier.length)
    onRound(owing)
  }
  await Promise.all(earlier.map((group) => assertKept(service.caller, group)))
  return earlier.length
}
