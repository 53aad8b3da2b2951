import type pg from 'pg'
import type { NewEvent } from '../events/event.ts'
import type { Soon } from '../soon.ts'
import { columnsOf, rowsOfEach, textForMany, type Values } from './at-once.ts'
import {
  type Database,
  nextQuery,
  type Query,
  type Repeating,
  type Row,
  run,
  type Statement,
  shared,
  sql,
  statementOf,
  type Value,
  type Version,
  type Work,
} from './database.ts'
import { writeEvents } from './events.ts'
import { Places } from './places.ts'
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
import { connect, mostConnections, openPool, type PostgresOptions, patience } from './postgres-pool.ts'
import { askServer } from './postgres-query.ts'
import { type Asked, SharedReads } from './shared-reads.ts'
import { performTogether, type SharedWrite } from './shared-writes.ts'
import { WriteQueue } from './write-queue.ts'

const migrationLock = 7_264_910_358
/** Where one commit follows the other, asking for the version brings nothing, and cost a twelfth of such a mix. */
const timesUnaskedBehindChange = 16
/** A transaction may wait for a row that another holds; these are left to reads, which wait for nobody. */
const connectionsForReads = 2
/** A timer that is to wait longer does not wait at all. */
const longestMilliseconds = 2 ** 31 - 1

export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Database> {
  return new Postgres(await openPool(url, options))
}

class Postgres implements Database {
  readonly engine = 'postgres'
  readonly #pool: pg.Pool
  readonly #places = new Places(mostConnections - connectionsForReads, patience)
  readonly #sharedReads: SharedReads
  readonly #sharedWrites = new WriteQueue((writes) => this.#share(writes))
  #commits = 0
  #version: Version | undefined
  #unasked = 0

  constructor(pool: pg.Pool) {
    this.#pool = pool
    this.#sharedReads = new SharedReads((round) => retrying(() => this.#askTogether(round)))
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    const rows = statement.types ? this.#sharedReads.read(statement, values) : this.#readAlone(statement, values)
    return rows as unknown as Promise<R[]>
  }

  readSoon<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    return this.read(statement, ...values)
  }

  async #readAlone(statement: Statement<Row>, values: Values): Promise<Row[]> {
    const [answers] = await retrying(() => this.#askTogether([{ statement, questions: [values] }]))
    return answers?.[0] ?? []
  }

  look<T>(work: () => Work<T>): Promise<T> {
    return perform(({ statement, values }) => this.read(statement, ...values), work(), [])
  }

  write<T>(work: () => Work<T>, repeating: Repeating, answersWithin?: number): Promise<T> {
    const attempt = async (ask: Ask) => {
      const events: NewEvent[] = []
      const result = await perform(ask, work(), events)
      await perform(ask, writeEvents(events), [])
      return result
    }
    return retrying(() => this.#transaction(repeating, attempt, answersWithin))
  }

  writeTogether<T>(order: string, work: () => Work<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#sharedWrites.add({ order, work, resolve: resolve as SharedWrite['resolve'], reject })
    return promise
  }

  exclusively<T>(work: () => Work<T>): Promise<T> {
    const alone = function* () {
      yield* run(takeYourTime)
      yield* run(lock, migrationLock)
      yield* run(doNotQueueForTables)
      return yield* work()
    }
    return this.write(alone, 'once', longestMilliseconds)
  }

  version(): Soon<Version | undefined> {
    if (this.#unasked > 0) {
      this.#unasked -= 1
      return undefined
    }
    return this.read(seen).then(([row]) => {
      const version = row?.[0] ?? undefined
      if (version !== this.#version) this.#unasked = timesUnaskedBehindChange
      this.#version = version
      return version
    })
  }

  stats() {
    const { totalCount, idleCount, waitingCount } = this.#pool
    const waiting = waitingCount + this.#places.waiting + this.#sharedWrites.length
    return { commits: this.#commits, connections: totalCount, idle: idleCount, waiting }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  /** All of a round in one packet, on one connection. */
  async #askTogether(round: readonly Asked[]): Promise<Row[][][]> {
    const client = await connect(this.#pool)
    let broken: Error | undefined
    try {
      const answers = await askServer(client, round.map(asOne))
      return round.map((asked, index) => ofEach(asked, answers[index] ?? []))
    } catch (error) {
      if (isSpent(error)) broken = error as Error
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** The writes that wait together share a transaction, as on SQLite. */
  async #share(writes: readonly SharedWrite[]): Promise<void> {
    const began = performance.now()
    try {
      const settle = await this.#transaction('repeatable', async (ask) => {
        const events: NewEvent[] = []
        if (writes.length > 1) await perform(ask, run(doNotHoldUp), [])
        const settled = await performSteps(ask, performTogether(writes, events))
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

  async #transaction<T>(repeating: Repeating, work: (ask: Ask) => Promise<T>, answersWithin?: number): Promise<T> {
    const turn = this.#places.take()
    if (turn !== undefined) await turn
    try {
      return await this.#transact(await connect(this.#pool), repeating, work, answersWithin)
    } finally {
      this.#places.leave()
    }
  }

  async #transact<T>(
    client: pg.PoolClient,
    repeating: Repeating,
    work: (ask: Ask) => Promise<T>,
    answersWithin: number | undefined,
  ): Promise<T> {
    const conversation = new Conversation(client, answersWithin)
    let broken: Error | undefined
    try {
      const result = await work(within(conversation))
      await conversation.commit().catch((error) => {
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

/**
 * What a transaction sees is all that has ended by then: as long as those are the same, so is the database, for any commit
 * ends one more. It is told apart by connection, for behind a fail-over the same numbers may be other transactions. A
 * standby does not say which of them have ended.
 */
const seen = shared<[string | null]>()`
  select case when not pg_is_in_recovery()
    then nullif(current_setting('ugs.connection', true), '') || ' ' || pg_current_snapshot() end`

// A migration of a large table takes minutes, and the others that start meanwhile wait for it.
const takeYourTime = sql`
  select set_config(name, '0', true) from pg_settings
  where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')`
const lock = sql`select pg_advisory_xact_lock($1)`
// Whoever comes to a table behind one that waits for it waits too: that must end as soon as any other statement would.
const doNotQueueForTables = sql`
  select set_config('lock_timeout', reset_val, true) from pg_settings where name = 'statement_timeout'`
// Somebody else may hold a row that one of many writes is about for long: alone it may wait for it.
const doNotHoldUp = sql`set local lock_timeout = 1000`

type Ask = (query: Query) => Promise<Row[]>

function within(conversation: Conversation): Ask {
  return async (query) => {
    if (query.statement.givesRows) return conversation.ask(query)
    conversation.tell(query)
    return []
  }
}

async function perform<T>(ask: Ask, work: Work<T>, events: NewEvent[]): Promise<T> {
  let next = nextQuery(work, [], events)
  while (!('result' in next)) next = nextQuery(work, await ask(next), events)
  return next.result
}

async function performSteps<T>(ask: Ask, steps: Generator<Asked, T, Row[][]>): Promise<T> {
  let next = steps.next()
  while (!next.done) next = steps.next(await askForMany(ask, next.value))
  return next.value
}

/** Asks once for all, where the statement can be asked so. */
async function askForMany(ask: Ask, asked: Asked): Promise<Row[][]> {
  const { statement, questions } = asked
  if (statement.types !== undefined) return ofEach(asked, await ask(asOne(asked)))
  const found: Row[][] = []
  for (const values of questions) found.push(await ask({ statement, values }))
  return found
}

function asOne({ statement, questions }: Asked): Query {
  const [first = []] = questions
  if (questions.length === 1) return { statement, values: first }
  return { statement: forMany(statement), values: columnsOf(questions) as unknown as Value[] }
}

function ofEach({ statement, questions }: Asked, rows: Row[]): Row[][] {
  return questions.length === 1 ? [rows] : rowsOfEach(statement, questions, rows)
}

const statementsForMany = new Map<Statement<Row>, Statement<Row>>()

function forMany(statement: Statement<Row>): Statement<Row> {
  let made = statementsForMany.get(statement)
  if (made === undefined) {
    made = statementOf<Row>(textForMany(statement))
    statementsForMany.set(statement, made)
  }
  return made
}
