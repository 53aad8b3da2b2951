import pg from 'pg'
import type { Row, Statement, Value } from './database.ts'

type Read = (text: string) => Value

type Answered = (error: Error | null, rows?: Row[]) => void

/** Of the driver's query what is used and replaced here; its types leave this out. */
interface DriverQuery {
  name: string
  values: readonly unknown[]
  callback: Answered
  prepare(connection: pg.Connection): void
}

interface Driver {
  Query: new (text: string, values: readonly unknown[], callback: Answered) => DriverQuery
  utils: { prepareValue(value: unknown): unknown }
}

interface Wire {
  bind(message: object): void
  execute(): void
  sync(): void
}

const { Query, utils } = pg as unknown as Driver

// Ids are below 2^53 by construction, so a number holds them.
const int8 = 20
const types = new pg.TypeOverrides()
types.setTypeParser(int8, Number)

/** How the columns of a statement are read, by its name: as long as it is prepared, a server does not change them. */
const readers = new WeakMap<pg.Connection, Map<string, Read[]>>()

/**
 * A prepared statement whose rows come as arrays. The driver's own query has the columns described with every answer, and
 * an object made of them, which takes longer than all the rest of a small answer.
 */
class PreparedQuery extends Query {
  readonly #rows: Row[] = []
  #known = new Map<string, Read[]>()
  #read: Read[] = []

  constructor({ text, name }: Statement<Row>, values: readonly Value[], answered: Answered) {
    super(text, values, answered)
    this.name = name
  }

  override prepare(connection: pg.Connection): void {
    this.#known = readers.get(connection) ?? this.#known
    readers.set(connection, this.#known)
    const read = this.#known.get(this.name)
    if (read === undefined) {
      super.prepare(connection)
      return
    }
    this.#read = read
    const wire = connection as unknown as Wire
    wire.bind({ statement: this.name, values: this.values, valueMapper: utils.prepareValue })
    wire.execute()
    wire.sync()
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    this.#read = fields.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as unknown as Read)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#rows.push(fields.map((text, column) => (text === null ? null : (this.#read[column]?.(text) ?? null))))
  }

  handleCommandComplete(): void {}

  /** Not before: a statement that fails the first time may not have been prepared. */
  handleReadyForQuery(): void {
    this.#known.set(this.name, this.#read)
    this.callback(null, this.#rows)
  }
}

export function askServer(client: pg.PoolClient, statement: Statement<Row>, values: readonly Value[]): Promise<Row[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
  const answered: Answered = (error, rows = []) => (error === null ? resolve(rows) : reject(error))
  client.query(new PreparedQuery(statement, values, answered) as unknown as pg.Submittable)
  return promise
}
