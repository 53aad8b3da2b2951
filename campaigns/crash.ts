import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { type Engine, newMasterKey } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import { createPostgres, type PostgresServer } from '../test/support/postgres-server.ts'
import { Premises } from '../test/support/premises.ts'
import { rawCount, rawSql } from '../test/support/raw-database.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { assertKept, assertWhole, loss } from './kept.ts'

export const crash: Campaign = {
  promise:
    'A crash of PostgreSQL in the middle of writes loses nothing acknowledged, leaves nothing half done, and ends no process.',
  unit: 'crashes',
  full: 100,
  brief: 2,
  bugs: {
    'a commit that does not wait for the disk': {
      shows: loss,
      rewrites: [
        {
          file: 'store/postgres-pool.ts',
          find: "coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on')",
          replace: "'off'",
        },
      ],
    },
    'a broken connection that ends the process': {
      shows: /no answer at all: .*(closed|ECONNRESET)/,
      rewrites: [{ file: 'store/postgres-pool.ts', find: "client.on('error', () => {})", replace: 'undefined' }],
    },
  },
  async run(attempt) {
    // Left to itself the server would write within 200 ms what nobody waits for: here only what a commit waits for is safe.
    const server = await createPostgres({ wal_writer_delay: '10s' })
    const premises = await Premises.open(undefined, onlyDatabaseOf(server), attempt.environment)
    try {
      const groups = await crashRounds(server, premises, attempt)
      return `${attempt.size} crashes, ${groups} groups looked at afterwards, 0 lost, 0 half done`
    } finally {
      await premises.close()
    }
  },
}

function onlyDatabaseOf(server: PostgresServer): Engine {
  return {
    name: 'PostgreSQL',
    async freshDatabase() {
      await server.start()
      return {
        environment: { DATABASE_URL: server.url, UGS_MASTER_KEY: newMasterKey() },
        folder: undefined,
        remove: () => server.remove(),
      }
    },
  }
}

async function crashRounds(server: PostgresServer, premises: Premises, { size, random, progress }: Attempt) {
  const earlier: TrackedGroup[] = []
  const { caller } = await premises.start()
  // The tables are not what is at stake.
  await rawSql(premises.environment, 'checkpoint')
  for (let round = 0; round < size; round++) {
    const load = new Load(caller, `round ${round}`)
    await eventually('the load runs', () => load.acknowledged > 30)
    await pause(random() * 250)
    await server.stop('immediate')
    await load.end()
    assert.notEqual(load.failures.length, 0, 'it crashed while answers were owed')
    const unanswered = load.failures.filter((failure) => !failure.includes('"unavailable"'))
    assert.equal(unanswered.length, 0, `a crash of the database got no answer at all: ${unanswered[0]}`)

    await server.start()
    await assertWhole(premises.environment)
    await Promise.all(load.groups.map((group) => assertKept(caller, group)))
    earlier.push(...load.groups)
    assert.equal(await rawCount(premises.environment, 'user_group'), earlier.length)
    progress(round + 1)
  }
  await Promise.all(earlier.map((group) => assertKept(caller, group)))
  return earlier.length
}
