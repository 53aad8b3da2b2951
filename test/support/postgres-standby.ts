import { appendFileSync, chmodSync, chownSync, cpSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import pg from 'pg'
import { createPostgres, type PostgresServer } from './postgres-server.ts'

/** Without the log, which the standby fetches itself, and what belongs to the running process. */
const leftOut = /^(pg_wal|pg_replslot|pg_stat_tmp)\/.|^postmaster\.|^standby\.signal$/

/** A copy of a running server that follows it: what pg_basebackup makes, by the same functions of the server. */
export function standbyOf(primary: PostgresServer, settings: Record<string, string> = {}): Promise<PostgresServer> {
  return createPostgres(settings, async (data, _binaries, { uid, gid }) => {
    const { hostname, port } = new URL(primary.url)
    const backup = new pg.Client({ connectionString: primary.url })
    await backup.connect()
    await backup.query(`select pg_backup_start('standby', fast => true)`)
    const filter = (path: string) => !leftOut.test(relative(primary.data, path))
    cpSync(primary.data, data, { recursive: true, filter })
    const { rows } = await backup.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
    await backup.end()
    writeFileSync(join(data, 'backup_label'), rows[0].labelfile)
    writeFileSync(join(data, 'standby.signal'), '')
    appendFileSync(
      join(data, 'postgresql.auto.conf'),
      `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\n`,
    )
    mkdirSync(join(data, 'pg_wal'), { recursive: true })
    chmodSync(data, 0o700)
    if (uid === undefined || gid === undefined) return
    for (const path of ['.', ...globSync('**', { cwd: data })]) chownSync(join(data, path), uid, gid)
  })
}
