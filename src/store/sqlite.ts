import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { ServiceError } from '../errors.ts'
import type { NewEvent } from '../events/event.ts'
import { Together } from '../together.ts'
import {
  type Database,
  MissingTable,
  nextQuery,
  type Row,
  type Statement,
  sql,
  UniqueViolation,
  type Value,
  type Work,
} from './database.ts'
import { writeEvents } from './events.ts'
import { FilesInPlace } from './files-in-place.ts'
import { gather } from './gather.ts'
import { dialect } from './sqlite-dialect.ts'
import { type Check, refuseForeign, refuseUnfit, sqliteRefusal } from './sqlite-fitness.ts'
import { WalIndex } from './wal-index.ts'

const patience = 5_000
// Short, because waiting for another process's commit blocks this one's event loop: the longer wait is asynchronous.
const blockingPatience = 20

const busy = 5
const foreignKeyViolation = 787
const primaryKeyViolation = 1555
const uniqueViolation = 2067
const transientCodes = new Set([busy, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26])

const beginReading = sql`begin`
const endReading = sql`commit`
const savepoint = sql`savepoint one`
const release = sql`release one`
const rollbackToSavepoint = sql`rollback to one`

interface Question {
  statement: Statement<Row>
  values: readonly Value[]
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

interface QueuedWrite {
  work: () => Work<unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

export function openSqlite(path: string, check?: Check): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const connection = connect(path)
    if (check !== undefined) refuseUnfit(connection, check, path)
    return new Sqlite(connection, path)
  } catch (error) {
    throw sqliteRefusal(path, error)
  }
}

function connect(path: string): DatabaseSync {
  // The time-out comes first: switching to WAL may itself have to wait for another process.
  const connection = new DatabaseSync(path, { timeout: patience, enableForeignKeyConstraints: true })
  refuseForeign(connection)
  const deadline = performance.now() + patience
  for (;;) {
    try {
      connection.exec('pragma journal_mode = wal')
      break
    } catch (error) {
      // Two processes that switch a new file at once are told "busy" without a wait, as each holds what the other needs.
      if (primaryCode(error) !== busy || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  connection.exec('pragma synchronous = full')
  connection.exec('pragma cache_size = -8000')
  connection.prepare('select count(*) from sqlite_schema').get()
  return connection
}

class Sqlite implements Database {
  readonly engine = 'sqlite'
  readonly #connection: DatabaseSync
  readonly #prepared = new Map<Statement<Row>, StatementSync>()
  readonly #reads = new Together<Question>(queueMicrotask, (questions) => this.#answer(questions))
  #queue: QueuedWrite[] = []
  #draining: Promise<void> | undefined
  #commits = 0
  readonly #walIndex: WalIndex
  readonly #database: FilesInPlace
  readonly #written: FilesInPlace

  /** The connection has read something before: then the files beside the database are there. */
  constructor(connection: DatabaseSync, path: string) {
    this.#connection = connection
    this.#walIndex = new WalIndex(path)
    this.#database = new FilesInPlace(path)
    this.#written = new FilesInPlace(path, `${path}-wal`)
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    if (statement.types === undefined) return this.#readAlone(statement, values)
    const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
    this.#reads.add({ statement, values, resolve, reject })
    return promise as Promise<unknown> as Promise<R[]>
  }

  async #readAlone<R extends Row>(statement: Statement<R>, values: readonly Value[]): Promise<R[]> {
    return this.readSoon(statement, ...values)
  }

  readSoon<R extends Row>(statement: Statement<R>, ...values: Value[]): R[] {
    try {
      this.#database.insist()
      return this.#run(statement, values) as unknown as R[]
    } catch (error) {
      throw translate(error)
    }
  }

  async look<T>(work: () => Work<T>): Promise<T> {
    try {
      this.#database.insist()
      return this.#perform(work(), [])
    } catch (error) {
      throw translate(error)
    }
  }

  write<T>(work: () => Work<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#queue.push({ work, resolve: resolve as QueuedWrite['resolve'], reject })
    this.#draining ??= this.#drain()
    return promise
  }

  writeTogether<T>(_order: string, work: () => Work<T>): Promise<T> {
    return this.write(work)
  }

  async exclusively<T>(work: () => Work<T>): Promise<T> {
    this.#connection.exec(`pragma busy_timeout = ${patience}`)
    try {
      this.#connection.exec('begin immediate')
      const events: NewEvent[] = []
      const result = this.#perform(work(), events)
      this.#perform(writeEvents(events), [])
      this.#commit()
      return result
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback')
      throw translate(error)
    } finally {
      this.#connection.exec(`pragma busy_timeout = ${blockingPatience}`)
    }
  }

  version(): number | undefined {
    return this.#database.areAllThere() ? this.#walIndex.version() : undefined
  }

  stats() {
    return { commits: this.#commits, connections: 1, idle: this.#draining ? 0 : 1, waiting: this.#queue.length }
  }

  async close(): Promise<void> {
    await this.#draining
    this.#connection.close()
  }

  #answer(questions: readonly Question[]): void {
    try {
      this.#database.insist()
      // In one transaction, as SQLite locks and unlocks a file for each; a write may have begun one already.
      const isShared = questions.length > 1 && !this.#connection.isTransaction
      if (isShared) this.#run(beginReading, [])
      for (const question of questions) this.#answerOne(question)
      // A read that fails may have ended it.
      if (isShared && this.#connection.isTransaction) this.#run(endReading, [])
    } catch (error) {
      for (const { reject } of questions) reject(translate(error))
    }
  }

  #answerOne({ statement, values, resolve, reject }: Question): void {
    try {
      resolve(this.#run(statement, values))
    } catch (error) {
      reject(translate(error))
    }
  }

  /** The writes that wait together share one transaction and one fsync; each still fails alone. */
  async #drain(): Promise<void> {
    await gather()
    while (this.#queue.length > 0) {
      try {
        await this.#begin()
      } catch (error) {
        for (const write of this.#queue.splice(0)) write.reject(translate(error))
        break
      }
      this.#commitTogether(this.#queue.splice(0))
    }
    this.#draining = undefined
  }

  async #begin(): Promise<void> {
    this.#written.insist()
    const deadline = performance.now() + patience
    for (;;) {
      try {
        this.#connection.exec('begin immediate')
        return
      } catch (error) {
        if (primaryCode(error) !== busy || performance.now() > deadline) throw error
        await pause(1 + Math.random() * 4)
      }
    }
  }

  #commitTogether(writes: readonly QueuedWrite[]): void {
    const settled: (() => void)[] = []
    const events: NewEvent[] = []
    try {
      for (const write of writes) settled.push(this.#performAlone(write, events))
      this.#perform(writeEvents(events), [])
      this.#commit()
      this.#commits += 1
      for (const settle of settled) settle()
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback')
      for (const write of writes) write.reject(translate(error))
    }
  }

  #commit(): void {
    this.#connection.exec('commit')
    // Before anybody is told: it may have gone in between.
    this.#written.insist()
  }

  #performAlone(write: QueuedWrite, events: NewEvent[]): () => void {
    this.#run(savepoint, [])
    const own: NewEvent[] = []
    try {
      const result = this.#perform(write.work(), own)
      this.#run(release, [])
      events.push(...own)
      return () => write.resolve(result)
    } catch (error) {
      // A full disk, say, rolls the whole transaction back: then nobody's write has happened.
      if (!this.#connection.isTransaction) throw error
      this.#run(rollbackToSavepoint, [])
      this.#run(release, [])
      return () => write.reject(translate(error))
    }
  }

  #perform<T>(work: Work<T>, events: NewEvent[]): T {
    let next = nextQuery(work, [], events)
    while (!('result' in next)) next = nextQuery(work, this.#run(next.statement, next.values), events)
    return next.result
  }

  #run(statement: Statement<Row>, values: readonly Value[]): Row[] {
    let prepared = this.#prepared.get(statement)
    if (prepared === undefined) {
      prepared = this.#connection.prepare(dialect(statement))
      prepared.setReturnArrays(true)
      this.#prepared.set(statement, prepared)
    }
    if (!statement.givesFirstValue) return prepared.all(...values) as unknown as Row[]
    return prepared.run(...values).changes === 0 ? [] : [values.slice(0, 1)]
  }
}

function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode
  return code === undefined ? undefined : code & 0xff
}

function translate(error: unknown): unknown {
  const { errcode, message } = error as Error & { errcode?: number }
  if (errcode === uniqueViolation || errcode === primaryKeyViolation) return new UniqueViolation(error)
  if (message.startsWith('no such table')) return new MissingTable(error)
  const code = primaryCode(error)
  // A reference to what was deleted just now, such as a retired master key, is a fault of the moment too.
  const isTransient = errcode === foreignKeyViolation || (code !== undefined && transientCodes.has(code))
  return isTransient ? new ServiceError('unavailable', { cause: error }) : error
}
