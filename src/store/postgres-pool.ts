import pg from 'pg'
import { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { isTransient } from './postgres-errors.ts'
import { refuseForgetful, refuseUnfit, refuseUnwritable } from './postgres-fitness.ts'
import { clientFor } from './postgres-hosts.ts'
import { postgresRemedyFor } from './postgres-remedies.ts'
import { verifyingFully } from './postgres-url.ts'
import type { Check } from './sqlite-fitness.ts'

export const patience = 5_000
export const mostConnections = 10

// Asynchronous commits, set for a server, a database or a user, would be ours too, and what was acknowledged could be lost.
// All else waits for the disk, and is kept as it is: a server may be told to reload its settings at any time. The name is
// that of no other connection, to this server or another.
//
// Every row is looked up by an index. PostgreSQL would rather read all rows where it expects few, and tables grow faster
// than it counts; or where it expects to come across one of many soon, and there may be none. So it gets no choice. To
// compile a plan for which there is no index takes longer than to run it.
//
// Who has waited for the row or the lock of another must see what that one has done: at a stricter level it would see the
// database as it was before, or be refused.
const prepareSession = `
  set default_transaction_isolation = 'read committed';
  set enable_seqscan = off;
  set enable_hashjoin = off;
  set enable_mergejoin = off;
  set jit = off;
  select set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false);
  select set_config('ugs.connection', gen_random_uuid()::text, false)`

export interface PostgresOptions {
  /** However closely: whether it takes writes. */
  check?: Check
  onConnectionError?: (error: Error) => void
}

export async function openPool(url: string, options: PostgresOptions): Promise<pg.Pool> {
  const connectionString = verifyingFully(url)
  const pool = new pg.Pool({
    connectionString,
    Client: clientFor(connectionString, patience),
    max: mostConnections,
    connectionTimeoutMillis: patience,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    idle_in_transaction_session_timeout: 15_000,
    // What may take long has no other way to find out that the server is gone.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: 'user-group-service',
    onConnect: (client) => client.query(prepareSession),
  })
  // An idle connection that the server closes is no news to a caller: the pool replaces it.
  pool.on('error', (error) => options.onConnectionError?.(error))
  // One that breaks in use fails the work it is used for; without a listener of its own it would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  try {
    await refuseUnfit(pool)
    await refuseForgetful(pool)
    if (options.check !== undefined) await refuseUnwritable(pool)
  } catch (error) {
    await pool.end()
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `PostgreSQL at ${withoutPassword(url)} cannot be reached: ${describe(error)}.`,
      postgresRemedyFor(error) ?? 'Check DATABASE_URL, that the server runs, and that its user may log in.',
      error,
    )
  }
  return pool
}

/** Whatever keeps us from connecting, the operator can mend: a socket that is not there, a certificate out of date. */
export async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw isTransient(error) ? error : new ServiceError('unavailable', { cause: error })
  }
}

function describe(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'no reason given'
}

/** Only what helps to find the server: no user, no password, no parameters. */
function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/).*@/, '$1').replace(/\?.*$/, '')
}
