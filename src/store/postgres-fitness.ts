import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorError } from '../operator-error.ts'
import { isForgotten } from './postgres-errors.ts'
import { grant, takeWrites } from './postgres-remedies.ts'

export async function refuseUnfit(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  )
  const [server] = rows
  if (server === undefined || server.version < 140_000)
    throw new OperatorError(
      `PostgreSQL ${Math.floor((server?.version ?? 0) / 10_000)} is too old.`,
      'Use PostgreSQL 14 or newer.',
    )
  if (server.encoding !== 'UTF8')
    throw new OperatorError(
      `The database stores text as ${server.encoding}, which cannot hold every id.`,
      "Create it with encoding 'UTF8'.",
    )
}

const rights = `
  select current_setting('transaction_read_only') = 'on' as "isReadOnly", coalesce(
    has_table_privilege(to_regclass('user_group'), 'insert')
      and has_table_privilege(to_regclass('user_group'), 'update')
      and has_table_privilege(to_regclass('user_group'), 'delete'),
    has_schema_privilege(current_schema(), 'create'),
    false
  ) as "mayWrite"`

/** A database must take writes, or, as long as it is empty, tables. */
export async function refuseUnwritable(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ isReadOnly: boolean; mayWrite: boolean }>(rights)
  if (rows[0]?.isReadOnly) throw new OperatorError('The database is read-only.', takeWrites)
  if (!rows[0]?.mayWrite) throw new OperatorError('The user in DATABASE_URL may not write to the database.', grant)
}

const probe = { name: 'ugs_probe', text: 'select pg_backend_pid() as connection' }

/**
 * A pooler may give each transaction another connection to the server, which does not know what was prepared on the last;
 * or it prepares that again, and what was set for the session is lost.
 */
export async function refuseForgetful(pool: pg.Pool): Promise<void> {
  const one = await pool.connect()
  let other: pg.PoolClient | undefined
  try {
    other = await pool.connect()
    const first = await connectionOf(one)
    // Whatever `one` was connected to just now belongs to the other as long as its transaction lasts.
    await other.query('begin')
    const again = connectionOf(one)
    // There may be one for both.
    await Promise.race([again, pause(1_000, undefined, { ref: false })])
    await other.query('rollback')
    if ((await again) !== first) throw forgetful()
  } catch (error) {
    throw isForgotten(error) ? forgetful(error) : error
  } finally {
    one.release()
    other?.release()
  }
}

async function connectionOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ connection: number }>(probe)
  return rows[0]?.connection
}

function forgetful(error?: unknown): OperatorError {
  return new OperatorError(
    'The pooler in front of PostgreSQL forgets what a connection has prepared.',
    'Have it keep a connection for a session (PgBouncer: pool_mode = session), or connect to PostgreSQL itself.',
    error,
  )
}
