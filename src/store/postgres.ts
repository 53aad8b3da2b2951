import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import {
  type Database,
  type Repeating,
  type Row,
  type Statement,
  UniqueViolation,
  type Value,
  type Work,
} from './database.ts'
import { clientFor } from './postgres-hosts.ts'

const attempts = 3
const patience = 5_000
const uniqueViolation = '23505'
const migrationLock = 7_264_910_358

// Ids are below 2^53 by construction, so a number holds them.
const int8 = 20
const types = new pg.TypeOverrides()
types.setTypeParser(int8, Number)

export interface PostgresOptions {
  poolSize?: number
  onConnectionError?: (error: Error) => void
}

export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    Client: clientFor(url, patience),
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: patience,
    statement_timeout: 10_000,
    query_timeout: 12_000,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
    application_name: 'user-group-service',
    types,
  })
  // An idle connection that the server closes is no news to a caller: the pool replaces it.
  pool.on('error', (error) => options.onConnectionError?.(error))
  // One that breaks in the middle of a transaction fails that transaction; its error, if nobody hears it, ends the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  const database = new Postgres(pool)
  try {
    await refuseUnfit(pool)
  } catch (error) {
    await pool.end()
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `PostgreSQL at ${withoutPassword(url)} cannot be reached: ${describe(error)}.`,
      'Check DATABASE_URL, that the server runs, and that its user may log in.',
      error,
    )
  }
  return database
}

async function refuseUnfit(pool: pg.Pool): Promise<void> {
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

class Postgres implements Database {
  readonly engine = 'postgres'
  readonly #pool: pg.Pool
  #commits = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    return retrying(async () => (await this.#pool.query(query(statement, values))).rows as unknown as R[])
  }

  look<T>(work: () => Work<T>): Promise<T> {
    return perform((statement, values) => this.read(statement, ...values), work)
  }

  write<T>(work: () => Work<T>, repeating: Repeating): Promise<T> {
    return retrying(() => this.#transaction(work, repeating))
  }

  exclusively<T>(work: () => Work<T>): Promise<T> {
    return this.write(function* () {
      yield { statement: lock, values: [migrationLock] }
      return yield* work()
    }, 'once')
  }

  version(): undefined {
    return undefined
  }

  stats() {
    const { totalCount, idleCount, waitingCount } = this.#pool
    return { commits: this.#commits, connections: totalCount, idle: idleCount, waiting: waitingCount }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #transaction<T>(work: () => Work<T>, repeating: Repeating): Promise<T> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      await client.query('begin')
      const result = await perform(async (...step) => (await client.query(query(...step))).rows as Row[], work)
      await client.query('commit').catch((error) => {
        throw isLostConnection(error) && repeating === 'once' ? new UnknownOutcome(error) : error
      })
      this.#commits += 1
      return result
    } catch (error) {
      broken = isSpent(error) ? (error as Error) : await rollback(client)
      throw error
    } finally {
      client.release(broken)
    }
  }
}

function rollback(client: pg.PoolClient): Promise<Error | undefined> {
  return client.query('rollback').then(
    () => undefined,
    (failure: Error) => failure,
  )
}

const lock: Statement<Row> = { text: 'select pg_advisory_xact_lock($1)', name: 'ugs_lock' }

type Ask = (statement: Statement<Row>, values: readonly Value[]) => Promise<Row[]>

async function perform<T>(ask: Ask, work: () => Work<T>): Promise<T> {
  const steps = work()
  let step = steps.next()
  while (!step.done) step = steps.next(await ask(step.value.statement, step.value.values))
  return step.value
}

function query(statement: Statement<Row>, values: readonly Value[]) {
  return { name: statement.name, text: statement.text, values: [...values], rowMode: 'array' as const }
}

/** The commit was sent and never answered: nobody knows whether it happened, so nobody may send it again. */
class UnknownOutcome extends Error {
  constructor(cause: unknown) {
    super('the connection was lost during the commit', { cause })
  }
}

async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      const again = isLostConnection(error) || isSerializationFailure(error)
      if (!again || failures === attempts) throw translate(error)
      await pause(Math.random() * 30 * failures)
    }
  }
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown }).code
  return error instanceof pg.DatabaseError && typeof code === 'string' ? code : undefined
}

function isSerializationFailure(error: unknown): boolean {
  return sqlState(error)?.startsWith('40') ?? false
}

/** The server said goodbye, or takes no writes any more, or the socket broke. Errors of our own carry no trace of it. */
function isLostConnection(error: unknown): boolean {
  if (error instanceof ServiceError || error instanceof UnknownOutcome) return false
  const state = sqlState(error)
  if (state !== undefined) return /^(08|25006|25P0[34]|57P0[1235])/.test(state)
  const { code, message } = error as NodeJS.ErrnoException
  return (
    /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code ?? '') ||
    /^(Connection terminated|Client has encountered a connection error|Client was closed)/.test(message)
  )
}

/** Lost, or silent: a rollback would wait behind the answer that did not come. */
function isSpent(error: unknown): boolean {
  if (error instanceof ServiceError) return false
  const isSilent = sqlState(error) === undefined && /time-?out/i.test((error as Error).message)
  return isSilent || error instanceof UnknownOutcome || isLostConnection(error)
}

/**
 * Anything the server's operator can mend, and time-outs, are a fault of the moment, and so is a reference to what was
 * deleted just now, such as a retired master key. What is left is a bug of ours.
 */
function translate(error: unknown): unknown {
  const state = sqlState(error)
  if (state === uniqueViolation) return new UniqueViolation(error)
  const transient = isSpent(error) || /^(23503|28|3D|40|53|55|57|58|XX)/.test(state ?? '')
  return transient ? new ServiceError('unavailable', { cause: error }) : error
}

function describe(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'no reason given'
}

/** Only what helps to find the server: no user, no password, no parameters. */
function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/).*@/, '$1').replace(/\?.*$/, '')
}
