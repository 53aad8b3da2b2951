import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onPostgres } from './postgres-client.ts'
import { copyCluster, createPostgres, type PostgresServer } from './postgres-server.ts'

/**
 * Without the log, which the standby fetches itself, and what belongs to the running process: of that, pg_internal.init
 * goes and comes, and may be gone before it is copied.
 */
const leftOut = /^(pg_wal|pg_replslot|pg_stat_tmp)\/.|^postmaster\.|^standby\.signal$|(^|\/)pg_internal\.init/

/** A copy of a running server that follows it. */
export async function standbyOf(
  primary: PostgresServer,
  settings: Record<string, string> = {},
): Promise<PostgresServer> {
  const { hostname, port } = new URL(primary.url)
  const files = mkdtempSync(join(tmpdir(), 'ugs-copy-'))
  try {
    await copyFiles(primary, files)
    const primary_conninfo = `host=${hostname} port=${port} user=postgres`
    return await serverFrom(files, { ...settings, primary_conninfo }, 'standby.signal')
  } finally {
    rmSync(files, { recursive: true })
  }
}

/** What pg_basebackup makes, by the same functions of the server. */
export async function copyFiles(running: PostgresServer, folder: string): Promise<void> {
  const filter = (path: string) => !leftOut.test(relative(running.data, path))
  const { rows } = await onPostgres(running.url, async (backup) => {
    await backup.query(`select pg_backup_start('copy', fast => true)`)
    cpSync(running.data, folder, { recursive: true, filter })
    return backup.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
  })
  writeFileSync(join(folder, 'backup_label'), rows[0].labelfile)
}

/** A server that begins with such a copy. The file `signal` tells it what to become. */
export function serverFrom(files: string, settings: Record<string, string>, signal: string): Promise<PostgresServer> {
  writeFileSync(join(files, signal), '')
  mkdirSync(join(files, 'pg_wal'), { recursive: true })
  return createPostgres(settings, (data, _binaries, owner) => copyCluster(files, data, owner))
}
