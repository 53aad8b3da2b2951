import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { CalledService, Premises } from '../test/support/premises.ts'
import { times } from '../test/support/times.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { Crowd } from './crowd.ts'
import { endByTheClock } from './end-by-the-clock.ts'
import { groupModel } from './group-model.ts'
import { firstUnexplained, isLinearizable } from './linearizability.ts'
import { onEachEngine } from './on-each-engine.ts'
import type { RecordedGroup } from './recorded-group.ts'

const processes = 4
const historiesBetweenKills = 50
const mostBroken = 5
const otherClock = fileURLToPath(new URL('other-clock.ts', import.meta.url))
const mostSkew = 5_000

export const linearizable: Campaign = {
  promise:
    'Get, rotate, verify, disable and delete behave as if they came one after the other, whichever process does them.',
  unit: 'histories on each engine',
  full: 10_000,
  brief: 20,
  bugs: {
    'a stale cache': {
      shows: /on SQLite, .*\b(get|verify t\d+) → (found|active|disabled|rotated)/,
      rewrites: [
        {
          file: 'memory.ts',
          find: 'this.#version = version',
          replace: 'let first: ReturnType<typeof version>\nthis.#version = () => (first ??= version())',
        },
      ],
    },
    'a stale cache on PostgreSQL': {
      shows: /on PostgreSQL, .*\b(get|verify t\d+) → (found|active|disabled|rotated)/,
      rewrites: [
        {
          file: 'store/postgres.ts',
          find: 'const version = row?.[0] ?? undefined',
          replace: 'const version = this.#version ?? row?.[0] ?? undefined',
        },
      ],
    },
    'a rotation that is not forgotten': {
      shows: /on SQLite, .*\b(get|verify t\d+) → (found|active)/,
      rewrites: [{ file: 'memory.ts', find: 'this.#forgotten += 1', replace: '' }],
    },
    'a lost update': {
      shows: /\bget → created/,
      rewrites: [
        {
          file: 'store/user-group-statements.ts',
          find: 'on conflict do nothing',
          replace: `on conflict (team_id, provided_id) do update set id = excluded.id, token_hash = excluded.token_hash,
            token_sealed = excluded.token_sealed, token_key = excluded.token_key`,
        },
      ],
    },
    'two winners': {
      shows: /on PostgreSQL, .*\brotate t\d+ → replaced/,
      rewrites: [
        {
          file: 'store/user-group-statements.ts',
          find: 'for update of g`',
          replace: '`',
        },
        {
          file: 'store/user-group-statements.ts',
          find: 'values ($1, $2, $3, $4, $5)`',
          replace: 'values ($1, $2, $3, $4, $5) on conflict do nothing`',
        },
      ],
    },
    'an end that depends on the clock': {
      shows: /\bverify t\d+ → (active|disabled)/,
      rewrites: endByTheClock,
    },
  },
  async run(attempt) {
    const runs = await onEachEngine(attempt, (premises, onDone) => record(premises, attempt, onDone))
    const { operations, lost, kills } = runs.reduce((sum, run) => ({
      operations: sum.operations + run.operations,
      lost: sum.lost + run.lost,
      kills: sum.kills + run.kills,
    }))
    return `${attempt.size} histories on each engine, ${operations} operations, ${lost} answers lost in ${kills} kills, each history explained`
  },
}

async function record(premises: Premises, { size, random }: Attempt, onDone: (done: number) => void) {
  const start = () => premises.start(withOtherClock(premises, random))
  const starts = times(processes, start)
  await Promise.allSettled(starts)
  const services: CalledService[] = await Promise.all(starts)
  const total = { operations: 0, lost: 0, kills: 0 }
  const broken: RecordedGroup[] = []
  let done = 0
  const crowd = new Crowd({
    groups: size,
    random,
    callers: () => services.map(({ caller }) => caller),
    onEnd(group) {
      onDone(++done)
      total.operations += group.operations.length
      total.lost += group.operations.filter(({ answer }) => answer === undefined).length
      if (!isLinearizable(group.operations, groupModel)) broken.push(group)
      return broken.length < mostBroken
    },
  })
  const kill = async () => {
    for (let next = historiesBetweenKills / 5; !crowd.isOver; await pause(5)) {
      if (done < next) continue
      next += historiesBetweenKills
      const [victim] = services.splice(Math.floor(random() * services.length), 1)
      await victim?.stop('SIGKILL')
      total.kills += 1
      services.push(await start())
    }
  }
  // Both to their end, so that no process is being started while the others are ended.
  const ends = await Promise.allSettled([crowd.run(), kill()])
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  const [first] = broken
  if (first) throw new Error(`${broken.map(explain).join('; ')}\n${first.transcript()}`)
  return total
}

/** Of several machines no two agree on the time. */
function withOtherClock({ environment }: Premises, random: () => number) {
  return {
    NODE_OPTIONS: `${environment.NODE_OPTIONS ?? ''} --import=${otherClock}`,
    CLOCK_SKEW: String(Math.round((random() * 2 - 1) * mostSkew)),
  }
}

function explain(group: RecordedGroup): string {
  const culprit = firstUnexplained(group.operations, groupModel)
  return `no order explains that in ${group.id} ${culprit && group.describe(culprit)}`
}
