import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../test/support/caller.ts'
import { createPostgres } from '../test/support/postgres-server.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Campaign } from './campaign.ts'
import { type Outage, outages, type Site } from './outages.ts'
import { isServing, serviceOn } from './service.ts'
import { TcpProxy } from './tcp-proxy.ts'
import { assertRecorded } from './things.ts'
import { assertUnavailable, Traffic } from './traffic.ts'

const patience = 5_000
/** More than the service waits for a statement or a connection. */
const veryLong = 22_000

export const outage: Campaign = {
  promise: 'Without its database the service answers 503 and when to try again, and is back within 5 s of it.',
  unit: 'outages',
  full: 100,
  brief: outages.length,
  bugs: {
    'a 503 that does not say when to try again': {
      shows: /503 (came )?without Retry-After/,
      rewrites: [{ file: 'http/failure.ts', find: `code === 'unavailable'`, replace: 'false' }],
    },
    'a lost database taken for a bug': {
      shows: /neither the right answer nor 503: 500/,
      rewrites: [
        {
          file: 'store/postgres-errors.ts',
          find: `isTransient(error) ? new ServiceError('unavailable', { cause: error }) : error`,
          replace: 'error',
        },
      ],
    },
    'a connection that goes back to the pool in the middle of a failed transaction': {
      shows: /neither the right answer nor 503: 500/,
      rewrites: [{ file: 'store/postgres-conversation.ts', find: '[rollback]', replace: '[]' }],
    },
    'a broken connection that ends the process': {
      shows: /other side closed|ECONNREFUSED|ECONNRESET/,
      rewrites: [{ file: 'store/postgres-pool.ts', find: `pool.on('connect'`, replace: `pool.on('remove'` }],
    },
    'a readiness that asks nobody': {
      shows: /said it was ready while/,
      rewrites: [
        { file: 'http/health.ts', find: 'await store.keys.all()', replace: 'new Map([[tokens.newestKeyId, store]])' },
      ],
    },
  },
  async run({ size, random, environment, progress }) {
    await using cleanup = new AsyncDisposableStack()
    const server = await createPostgres()
    cleanup.defer(() => server.remove())
    await server.start()
    const direct = await databaseOn(server.url)
    const { proxy, url } = await TcpProxy.before(direct)
    cleanup.defer(() => proxy.close())
    const { caller } = await serviceOn(cleanup, url, environment)

    const site = { server, url: direct, proxy, random }
    const traffic = await Traffic.prepare(caller, random)
    for (let round = 0; round < size; round++) {
      const chosen = outages[round % outages.length] as Outage
      const isLong = chosen.isQuiet && round >= outages.length && random() < 0.2
      await traffic.around(() => suffer(chosen, site, caller, traffic, isLong ? veryLong : 100 + random() * 200))
      progress(round + 1, chosen.name)
    }
    await traffic.assertKept()
    await assertRecorded({ DATABASE_URL: direct }, traffic.things)
    const { answered, refused, things } = traffic
    assert.ok(refused.looks > 0 && refused.changes > 0, 'no outage was felt')
    return `${size} outages, ${answered} right answers, ${refused.looks + refused.changes} times 503, ${things.length} things looked at afterwards, 0 lost`
  },
}

async function databaseOn(server: string): Promise<string> {
  await rawSql({ DATABASE_URL: server }, 'create role ugs login')
  await rawSql({ DATABASE_URL: server }, 'create database ugs owner ugs')
  const url = new URL(server)
  url.username = 'ugs'
  url.pathname = 'ugs'
  return url.href
}

async function suffer(what: Outage, site: Site, caller: Caller, traffic: Traffic, duration: number): Promise<void> {
  await traffic.answers(10)
  const end = await what.begin(site)
  let isOver = false
  const last = async () => {
    await pause(duration)
    isOver = true
    await end()
    await traffic.until(`the service is back after ${what.name}`, () => isServing(caller), patience)
  }
  await Promise.all([last(), watchHealth(caller, what, () => isOver)])
}

/** The process is alive all the time; ready it is not while nobody gets through to the database. */
async function watchHealth(caller: Caller, { name, isComplete }: Outage, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const alive = await caller.call('GET', '/healthz')
    assert.equal(alive.status, 200, `healthz said ${alive.status} while ${name}`)
    const ready = await caller.call('GET', '/readyz')
    if (ready.status !== 200) assertUnavailable(ready)
    else assert.ok(isOver() || !isComplete, `the service said it was ready while ${name}`)
    await pause(20)
  }
}
