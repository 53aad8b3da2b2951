import pg from 'pg'
import type { NewEvent } from '../events/event.ts'
import { OperatorError } from '../operator-error.ts'
import { columnsOf, rowsOfEach, textForMany, type Values } from './at-once.ts'
import {
  type Database,
  named,
  nextQuery,
  type Repeating,
  type Row,
  type Statement,
  type Value,
  type Work,
} from './database.ts'
import { writeEvents } from './events.ts'
import { Conversation } from './postgres-conversation.ts'
import {
  isLostConnection,
  isSpent,
  isTooLate,
  isTransient,
  retrying,
  translate,
  UnknownOutcome,
} from './postgres-errors.ts'
import { clientFor } from './postgres-hosts.ts'
import { type Asked, SharedReads } from './shared-reads.ts'
import { performTogether, type SharedWrite } from './shared-writes.ts'
import { waitBriefly } from './wait-briefly.ts'

const patience = 5_000
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
    pipeline: true,
    application_name: 'user-group-service',
    types,
  })
  // An idle connection that the server closes is no news to a caller: the pool replaces it.
  pool.on('error', (error) => options.onConnectionError?.(error))
  // One that breaks in use fails the work it is used for; without a listener of its own it would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
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
  return new Postgres(pool)
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

const mostTogether = 200
const sharePatience = 1_000

class Postgres implements Database {
  readonly engine = 'postgres'
  readonly #pool: pg.Pool
  readonly #sharedReads: SharedReads
  #sharedWrites: SharedWrite[] = []
  #isSharing = false
  #commits = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#sharedReads = new SharedReads((round) => retrying(() => this.#askTogether(round)))
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    const rows = statement.types
      ? this.#sharedReads.read(statement, values)
      : retrying(() => asking(this.#pool)(statement, values))
    return rows as unknown as Promise<R[]>
  }

  look<T>(work: () => Work<T>): Promise<T> {
    return perform((statement, values) => this.read(statement, ...values), work(), [])
  }

  write<T>(work: () => Work<T>, repeating: Repeating): Promise<T> {
    return retrying(() =>
      this.#transaction(repeating, async (ask) => {
        const events: NewEvent[] = []
        const result = await perform(ask, work(), events)
        await perform(ask, writeEvents(events), [])
        return result
      }),
    )
  }

  writeTogether<T>(order: string, work: () => Work<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#sharedWrites.push({ order, work, resolve: resolve as SharedWrite['resolve'], reject })
    if (!this.#isSharing) {
      this.#isSharing = true
      setImmediate(() => void this.#shareTransactions())
    }
    return promise
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
    const waiting = waitingCount + this.#sharedWrites.length
    return { commits: this.#commits, connections: totalCount, idle: idleCount, waiting }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /** All of a round in one packet, on one connection. */
  async #askTogether(round: readonly Asked[]): Promise<Row[][][]> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      const ask = asking(client)
      client.connection.stream.cork()
      const answers = round.map(({ statement, questions }) => askForMany(ask, statement, questions))
      client.connection.stream.uncork()
      return await Promise.all(answers)
    } catch (error) {
      if (isSpent(error)) broken = error as Error
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** The writes that wait together share a transaction, as on SQLite: while one is under way, the next gathers. */
  async #shareTransactions(): Promise<void> {
    while (this.#sharedWrites.length > 0) {
      const [together, later] = apart(this.#sharedWrites)
      this.#sharedWrites = later
      await waitBriefly(this.#share(together), sharePatience)
    }
    this.#isSharing = false
  }

  async #share(writes: readonly SharedWrite[]): Promise<void> {
    const began = performance.now()
    try {
      const settle = await this.#transaction('repeatable', async (ask) => {
        const events: NewEvent[] = []
        const settled = await performTogether(writes, (...query) => askForMany(ask, ...query), events)
        await perform(ask, writeEvents(events), [])
        return settled
      })
      settle()
    } catch (error) {
      // It has taken as long as a caller should wait.
      if (isTooLate(began) && isTransient(error)) for (const { reject } of writes) reject(translate(error))
      // Each for itself: one that fails must not fail the others.
      else for (const { work, resolve, reject } of writes) this.write(work, 'repeatable').then(resolve, reject)
    }
  }

  async #transaction<T>(repeating: Repeating, work: (ask: Ask) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    const conversation = new Conversation(client)
    let broken: Error | undefined
    try {
      conversation.tell('begin')
      const result = await work(within(conversation))
      await conversation.ask('commit').catch((error) => {
        throw isLostConnection(error) && repeating === 'once' ? new UnknownOutcome(error) : error
      })
      this.#commits += 1
      return result
    } catch (error) {
      broken = isSpent(error) ? (error as Error) : await conversation.giveUp()
      throw error
    } finally {
      client.release(broken)
    }
  }
}

/** Those that can share a transaction now, and those that wait for it: of two on the same thing, the first goes first. */
function apart(writes: readonly SharedWrite[]): [SharedWrite[], SharedWrite[]] {
  const together = new Map<string, SharedWrite>()
  const later = writes.filter((write) => {
    if (together.has(write.order) || together.size === mostTogether) return true
    together.set(write.order, write)
    return false
  })
  return [[...together.values()], later]
}

const lock = named('ugs_lock', 'select pg_advisory_xact_lock($1)')

type Ask = (statement: Statement<Row>, values: readonly Value[]) => Promise<Row[]>

function asking(client: pg.Pool | pg.PoolClient): Ask {
  return async (statement, values) => (await client.query(query(statement, values))).rows
}

function within(conversation: Conversation): Ask {
  return async (statement, values) => {
    if (statement.givesRows) return (await conversation.ask(query(statement, values))).rows
    conversation.tell(query(statement, values))
    return []
  }
}

async function perform<T>(ask: Ask, work: Work<T>, events: NewEvent[]): Promise<T> {
  let next = nextQuery(work, [], events)
  while (!('result' in next)) next = nextQuery(work, await ask(next.statement, next.values), events)
  return next.result
}

/** Asks once for all, where the statement can be asked so. */
async function askForMany(ask: Ask, statement: Statement<Row>, asked: readonly Values[]): Promise<Row[][]> {
  if (statement.types === undefined || asked.length === 1) {
    const found: Row[][] = []
    for (const values of asked) found.push(await ask(statement, values))
    return found
  }
  return rowsOfEach(statement, asked, await ask(forMany(statement), columnsOf(asked) as unknown as Value[]))
}

const statementsForMany = new Map<Statement<Row>, Statement<Row>>()

function forMany(statement: Statement<Row>): Statement<Row> {
  let made = statementsForMany.get(statement)
  if (made === undefined) {
    made = named<Row>(`${statement.name}_many`, textForMany(statement))
    statementsForMany.set(statement, made)
  }
  return made
}

function query(statement: Statement<Row>, values: readonly Value[]) {
  return { name: statement.name, text: statement.text, values: [...values], rowMode: 'array' as const }
}

function describe(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || code || 'no reason given'
}

/** Only what helps to find the server: no user, no password, no parameters. */
function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/).*@/, '$1').replace(/\?.*$/, '')
}
