import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { NewEvent } from '../events/event.ts'
import { nextQuery, type Row, type Statement, type Value, type Work } from './database.ts'
import { dialect } from './sqlite-dialect.ts'
import { isBusy } from './sqlite-errors.ts'
import { refuseForeign } from './sqlite-fitness.ts'

export const patience = 5_000
/** Bytes, several times what the log takes by itself: it grows as long as somebody reads an old state of the database. */
const keptOfLog = 32 * 2 ** 20

/** The one connection of this process. Whatever it is asked is done before it returns. */
export class SqliteConnection {
  readonly #connection: DatabaseSync
  readonly #prepared = new Map<Statement<Row>, StatementSync>()

  constructor(connection: DatabaseSync) {
    this.#connection = connection
  }

  get isTransaction(): boolean {
    return this.#connection.isTransaction
  }

  exec(text: string): void {
    this.#connection.exec(text)
  }

  run(statement: Statement<Row>, values: readonly Value[]): Row[] {
    let prepared = this.#prepared.get(statement)
    if (prepared === undefined) {
      prepared = this.#connection.prepare(dialect(statement))
      prepared.setReturnArrays(true)
      this.#prepared.set(statement, prepared)
    }
    if (!statement.givesFirstValue) return prepared.all(...values) as unknown as Row[]
    return prepared.run(...values).changes === 0 ? [] : [values.slice(0, 1)]
  }

  perform<T>(work: Work<T>, events: NewEvent[]): T {
    let next = nextQuery(work, [], events)
    while (!('result' in next)) next = nextQuery(work, this.run(next.statement, next.values), events)
    return next.result
  }

  close(): void {
    this.#connection.close()
  }
}

/** Opens a file that is a database of this service, or empty, and leaves it as it is. */
export function openOwn(path: string): DatabaseSync {
  // With the time-out from the beginning: switching to WAL may itself have to wait for another process.
  const connection = new DatabaseSync(path, { timeout: patience, enableForeignKeyConstraints: true })
  refuseForeign(connection)
  return connection
}

export function connect(path: string): DatabaseSync {
  const connection = openOwn(path)
  const deadline = performance.now() + patience
  for (;;) {
    try {
      connection.exec('pragma journal_mode = wal')
      break
    } catch (error) {
      // Two processes that switch a new file at once are told "busy" without a wait, as each holds what the other needs.
      if (!isBusy(error) || performance.now() > deadline) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
  connection.exec('pragma synchronous = full')
  connection.exec(`pragma journal_size_limit = ${keptOfLog}`)
  connection.exec('pragma cache_size = -8000')
  connection.prepare('select count(*) from sqlite_schema').get()
  return connection
}
