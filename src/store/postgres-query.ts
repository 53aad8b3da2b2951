import pg from 'pg'
import type { Query, Row, Value } from './database.ts'
import { isOutdated } from './postgres-errors.ts'

type Read = (text: string) => Value

type Answered = (error: Error | null, answers?: Row[][]) => void

/** What the driver's types leave out, or have as it was years ago. */
interface Driver {
  utils: { prepareValue(value: unknown): unknown }
}

interface Wire {
  readonly stream: pg.Connection['stream']
  close(message: object): void
  parse(message: object): void
  bind(message: object): void
  describe(message: object): void
  execute(): void
  sync(): void
}

const { prepareValue } = (pg as unknown as Driver).utils

// Ids are below 2^53 by construction, so a number holds them.
const int8 = 20
const types = new pg.TypeOverrides()
types.setTypeParser(int8, Number)

/** How the columns of a statement are read, by its name: as long as it is prepared, a server does not change them. */
let readers = new WeakMap<Wire, Map<string, Read[]>>()

/**
 * Queries that travel in one packet, as do their answers; where one fails, those behind it are not run. The driver's own
 * query is for one statement, and has its columns described with every answer and an object made of them, which takes
 * longer than all the rest of a small answer.
 */
class Packet {
  readonly #queries: readonly { statement: Query['statement']; values: readonly unknown[] }[]
  /** The driver puts one in front of it that knows how long to wait. */
  callback: Answered
  /** The name the driver looks for it under. */
  readonly query_timeout: number | undefined
  readonly #answers: Row[][] = []
  #rows: Row[] = []
  #known = new Map<string, Read[]>()
  #read: Read[] = []

  /** What cannot be a value is refused here: nothing has been sent of it yet. */
  constructor(queries: readonly Query[], patience: number | undefined, answered: Answered) {
    this.#queries = queries.map(({ statement, values }) => ({ statement, values: values.map(prepareValue) }))
    this.callback = answered
    this.query_timeout = patience
  }

  submit(connection: Wire): void {
    this.#known = readers.get(connection) ?? this.#known
    readers.set(connection, this.#known)
    this.#expectNext()
    connection.stream.cork()
    const prepared = new Set<string>()
    for (const { statement, values } of this.#queries) {
      const { name, text } = statement
      const isNew = !this.#known.has(name) && !prepared.has(name)
      if (isNew) {
        // It may be there all the same: from a packet that failed.
        connection.close({ type: 'S', name })
        connection.parse({ name, text })
        prepared.add(name)
      }
      connection.bind({ statement: name, values })
      if (isNew) connection.describe({ type: 'P' })
      connection.execute()
    }
    connection.sync()
    connection.stream.uncork()
  }

  get #name(): string {
    return this.#queries[this.#answers.length]?.statement.name ?? ''
  }

  #expectNext(): void {
    this.#rows = []
    this.#read = this.#known.get(this.#name) ?? []
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    this.#read = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as unknown as Read)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#rows.push(fields.map((text, column) => (text === null ? null : (this.#read[column]?.(text) ?? null))))
  }

  handleCommandComplete(): void {
    this.#known.set(this.#name, this.#read)
    this.#answers.push(this.#rows)
    this.#expectNext()
  }

  handleReadyForQuery(): void {
    this.callback(null, this.#answers)
  }

  handleError(error: Error): void {
    // So it is on every connection: all are to prepare anew, or a second try would only meet the next.
    if (isOutdated(error)) readers = new WeakMap()
    this.callback(error)
  }
}

/** The rows of each query. `patience`, in milliseconds, stands in for that of the connection. */
export function askServer(client: pg.PoolClient, queries: readonly Query[], patience?: number): Promise<Row[][]> {
  const { promise, resolve, reject } = Promise.withResolvers<Row[][]>()
  const packet = new Packet(queries, patience, (error, answers = []) =>
    error === null ? resolve(answers) : reject(error),
  )
  client.query(packet as unknown as pg.Submittable)
  return promise
}
