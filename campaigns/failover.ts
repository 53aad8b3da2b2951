import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../test/support/eventually.ts'
import { createPostgres, freePort, type PostgresServer } from '../test/support/postgres-server.ts'
import { standbyOf } from '../test/support/postgres-standby.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Campaign } from './campaign.ts'
import { isServing, serviceOn } from './service.ts'
import { assertRecorded } from './things.ts'
import { Traffic } from './traffic.ts'

const patience = 5_000

export const failover: Campaign = {
  promise: 'A failover to a synchronous standby loses nothing that was acknowledged, and takes over within 5 s.',
  unit: 'failovers',
  full: 20,
  brief: 1,
  bugs: {
    'commits that do not wait for the standby': {
      shows: /is lost|has lost|should be|nor 503: 40[49]/,
      rewrites: [
        {
          file: 'store/postgres-pool.ts',
          find: `application_name: 'user-group-service',`,
          replace: `application_name: 'user-group-service', options: '-c synchronous_commit=local',`,
        },
      ],
    },
  },
  async run({ size, random, environment, progress }) {
    await using cleanup = new AsyncDisposableStack()
    const ports = [String(await freePort()), String(await freePort())] as const
    let primary = await createPostgres({ port: ports[0] })
    removeAfter(cleanup, primary)
    await primary.start()
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join()
    const url = `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`
    const { caller } = await serviceOn(cleanup, url, environment)

    const traffic = await Traffic.prepare(caller, random)
    for (let round = 0; round < size; round++) {
      // It would otherwise sometimes sit out 5 s after the loss of the first before it lets itself be promoted.
      const settings = { port: ports[(round + 1) % 2] as string, wal_retrieve_retry_interval: '100ms' }
      const standby = await standbyOf(primary, settings)
      removeAfter(cleanup, standby)
      await follow(standby, primary)
      await traffic.around(async () => {
        await traffic.answers(50)
        await die(primary, round % 2 === 0, random)
        await sql(standby, 'select pg_promote()')
        await traffic.until('the service goes on with the standby', () => isServing(caller), patience)
      })
      await primary.remove()
      primary = standby
      progress(round + 1)
    }
    await traffic.assertKept()
    await assertRecorded({ DATABASE_URL: primary.url }, traffic.things)
    const { answered, things } = traffic
    return `${size} failovers, ${answered} right answers, ${things.length} things looked at afterwards, 0 lost`
  },
}

function removeAfter(cleanup: AsyncDisposableStack, server: PostgresServer): void {
  cleanup.defer(() => server.remove())
}

/** From then on the commits of the first wait for it. */
async function follow(standby: PostgresServer, primary: PostgresServer): Promise<void> {
  await standby.start()
  await sql(primary, `alter system set synchronous_standby_names = '*'`)
  await sql(primary, 'select pg_reload_conf()')
  await eventually('the standby is synchronous', async () => (await replication(primary))?.sync_state === 'sync')
}

/** As a machine dies whose last words do not leave it: what it had just written to its disk, no standby has heard of. */
async function die(primary: PostgresServer, isMute: boolean, random: () => number): Promise<void> {
  const sender = Number((await replication(primary))?.pid)
  if (isMute) process.kill(sender, 'SIGSTOP')
  await pause(50 + random() * 200)
  await primary.stop('kill')
  process.kill(sender, 'SIGKILL')
}

async function replication(primary: PostgresServer) {
  const [row] = await sql(primary, 'select pid, sync_state from pg_stat_replication')
  return row
}

function sql({ url }: PostgresServer, statement: string) {
  return rawSql({ DATABASE_URL: url }, statement)
}
