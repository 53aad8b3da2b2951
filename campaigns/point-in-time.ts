import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newMasterKey } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { createPostgres } from '../test/support/postgres-server.ts'
import { copyFiles, serverFrom } from '../test/support/postgres-standby.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'
import { Bookkeeping } from './bookkeeping.ts'
import { serviceOn } from './service.ts'

/**
 * A copy of a running server and an archive of its log bring a database back to the moment before a mistake. Returns how
 * many groups there were at that moment.
 */
export async function goBackInTime(common: Environment): Promise<number> {
  await using cleanup = new AsyncDisposableStack()
  const archive = mkdtempSync(join(tmpdir(), 'ugs-archive-'))
  cleanup.defer(async () => rmSync(archive, { recursive: true }))
  // The server is another user's.
  chmodSync(archive, 0o777)
  const server = await createPostgres({ archive_mode: 'on', archive_command: `cp %p ${archive}/%f` })
  cleanup.defer(() => server.remove())
  await server.start()
  const environment = { ...common, DATABASE_URL: server.url, UGS_MASTER_KEY: newMasterKey() }
  const service = await serviceOn(cleanup, server.url, environment)

  const books = new Bookkeeping(service.caller)
  await books.more(20)
  const copy = join(archive, 'copy')
  await copyFiles(server, copy)
  await books.more(20)
  const before = books.snapshot()
  const [now] = await rawSql(environment, 'select clock_timestamp()::text as moment')
  assert.equal((await service.caller.getOrCreate('a mistake')).status, 200)
  await books.more(20)
  await books.end()
  await archiveAll(environment)
  await service.stop('SIGKILL')
  await server.stop('immediate')

  const settings = { restore_command: `cp ${archive}/%f %p`, recovery_target_time: String(now?.moment) }
  const recovered = await serverFrom(copy, { ...settings, recovery_target_action: 'promote' }, 'recovery.signal')
  cleanup.defer(() => recovered.remove())
  await recovered.start()
  const restored = { ...environment, DATABASE_URL: recovered.url }
  await eventually('it takes writes again', () => isPromoted(restored), 30_000)
  const mistakes = await rawSql(restored, `select id from user_group where provided_id = 'a mistake'`)
  assert.deepEqual(mistakes, [], 'what came after the moment is still there')
  // Awaited here: what comes behind takes the server away.
  return await books.assertRestored(restored, before)
}

async function archiveAll(environment: Environment): Promise<void> {
  const [last] = await rawSql(environment, 'select pg_walfile_name(pg_switch_wal()) as file')
  // A file that is there may still be half of itself.
  const isArchived = async () => {
    const [done] = await rawSql(environment, 'select last_archived_wal as file from pg_stat_archiver')
    return String(done?.file) >= String(last?.file)
  }
  await eventually('the log is in the archive', isArchived, 30_000)
}

async function isPromoted(environment: Environment): Promise<boolean> {
  const [state] = await rawSql(environment, 'select pg_is_in_recovery() as recovering')
  return state?.recovering === false
}
