import { dirname } from 'node:path'
import type { NewEvent } from '../events/event.ts'
import { Together } from '../together.ts'
import { type Database, type OnGroupChanged, type Row, type Statement, sql, type Value, type Work } from './database.ts'
import { writeEvents } from './events.ts'
import { FilesInPlace } from './files-in-place.ts'
import { makeFolder } from './make-folder.ts'
import { connect, openOwn, patience, SqliteConnection } from './sqlite-connection.ts'
import { translate } from './sqlite-errors.ts'
import { type Check, refuseReadOnly, refuseUnfit, sqliteRefusal } from './sqlite-fitness.ts'
import { isThere } from './sqlite-presence.ts'
import { SqliteWrites } from './sqlite-writes.ts'
import { WalIndex } from './wal-index.ts'

// Short, because waiting for another process's commit blocks this one's event loop: the longer wait is asynchronous.
const blockingPatience = 20

const beginReading = sql`begin`
const endReading = sql`commit`

interface Question {
  statement: Statement<Row>
  values: readonly Value[]
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

export function openSqlite(path: string, check?: Check, onGroupChanged?: OnGroupChanged): Database {
  const isNew = !isThere(path)
  if (check !== undefined) refuseReadOnly(path)
  try {
    if (isNew) makeFolder(dirname(path))
    const connection = connect(path)
    if (check !== undefined) refuseUnfit(connection, check, path)
    return new Sqlite(new SqliteConnection(connection), path, onGroupChanged)
  } catch (error) {
    throw sqliteRefusal(path, error)
  }
}

/** For whoever misses what should be beside the database: there may be something else in its place. */
export function refuseOther(path: string): void {
  try {
    openOwn(path).close()
  } catch (error) {
    throw sqliteRefusal(path, error)
  }
}

class Sqlite implements Database {
  readonly engine = 'sqlite'
  readonly #connection: SqliteConnection
  readonly #reads = new Together<Question>(queueMicrotask, (questions) => this.#answer(questions))
  readonly #writes: SqliteWrites
  readonly #walIndex: WalIndex
  readonly #files: FilesInPlace
  readonly #index: FilesInPlace

  /** The connection has read something before: then the files beside the database are there. */
  constructor(connection: SqliteConnection, path: string, onGroupChanged?: OnGroupChanged) {
    this.#connection = connection
    this.#walIndex = new WalIndex(path)
    const [log, index] = [`${path}-wal`, `${path}-shm`]
    this.#index = new FilesInPlace(index)
    this.#files = new FilesInPlace(path, index)
    this.#writes = new SqliteWrites(connection, new FilesInPlace(path, index, log), this.#walIndex, onGroupChanged)
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
      this.#files.insist()
      return this.#connection.run(statement, values) as unknown as R[]
    } catch (error) {
      throw translate(error)
    }
  }

  async look<T>(work: () => Work<T>): Promise<T> {
    try {
      this.#files.insist()
      return this.#connection.perform(work(), [])
    } catch (error) {
      throw translate(error)
    }
  }

  write<T>(work: () => Work<T>): Promise<T> {
    return this.#writes.add(work)
  }

  writeTogether<T>(order: string, work: () => Work<T>): Promise<T> {
    return this.#writes.add(work, order)
  }

  async exclusively<T>(work: () => Work<T>): Promise<T> {
    this.#connection.exec(`pragma busy_timeout = ${patience}`)
    try {
      this.#connection.exec('begin immediate')
      const events: NewEvent[] = []
      const result = this.#connection.perform(work(), events)
      this.#connection.perform(writeEvents(events), [])
      this.#writes.commit()
      return result
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback')
      throw translate(error)
    } finally {
      this.#connection.exec(`pragma busy_timeout = ${blockingPatience}`)
    }
  }

  version(): number | undefined {
    return this.#files.areAllThere() ? this.#walIndex.version() : undefined
  }

  stats() {
    return { connections: 1, ...this.#writes.stats() }
  }

  async close(): Promise<void> {
    await this.#writes.drained()
    // By an index that the others do not share it would take the log away, with what they have committed since.
    if (this.#index.areAllThere()) this.#connection.close()
  }

  #answer(questions: readonly Question[]): void {
    try {
      this.#files.insist()
      // In one transaction, as SQLite locks and unlocks a file for each.
      const isShared = questions.length > 1
      if (isShared) this.#connection.run(beginReading, [])
      for (const question of questions) this.#answerOne(question)
      // A read that fails may have ended it.
      if (isShared && this.#connection.isTransaction) this.#connection.run(endReading, [])
    } catch (error) {
      for (const { reject } of questions) reject(translate(error))
    }
  }

  #answerOne({ statement, values, resolve, reject }: Question): void {
    try {
      resolve(this.#connection.run(statement, values))
    } catch (error) {
      reject(translate(error))
    }
  }
}
