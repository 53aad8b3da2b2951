import { appendFileSync, chmodSync, chownSync, cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import { createPostgres, type PostgresServer } from './postgres-server.ts'

/** Without the log, which the standby fetches itself, and what belongs to the running process. */
const leftOut = /^(pg_wal|pg_replslot|pg_stat_tmp)\/.|^postmaster\.|^standby\.signal$/

/** A copy of a running server that follows it. */
export function standbyOf(primary: PostgresServer, settings: Record<string, string> = {}): Promise<PostgresServer> {
  const { hostname, port } = new URL(primary.url)
  return copyOf(primary, settings, {
    'standby.signal': '',
    'postgresql.auto.conf': `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\n`,
  })
}

/** What pg_basebackup makes, by the same functions of the server, with something at the end of some of its files. */
export function copyOf(
  running: PostgresServer,
  settings: Record<string, string>,
  endings: Record<string, string>,
): Promise<PostgresServer> {
  return createPostgres(settings, async (data, _binaries, { uid, gid }) => {
    const backup = new pg.Client({ connectionString: running.url })
    await backup.connect()
    await backup.query(`select pg_backup_start('copy', fast => true)`)
    const filter = (path: string) => !leftOut.test(relative(running.data, path))
    cpSync(running.data, data, { recursive: true, filter })
    const { rows } = await backup.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
    await backup.end()
    writeFileSync(join(data, 'backup_label'), rows[0].labelfile)
    for (const [file, ending] of Object.entries(endings)) appendFileSync(join(data, file), ending)
    mkdirSync(join(data, 'pg_wal'), { recursive: true })
    chmodSync(data, 0o700)
    if (uid === undefined || gid === undefined) return
    for (const path of ['.', ...globSync('**', { cwd: data })]) chownSync(join(data, path), uid, gid)
  })
}
