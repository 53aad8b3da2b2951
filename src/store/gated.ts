import type { Soon } from '../soon.ts'
import type { Database, Repeating, Row, Statement, Value, Version, Work } from './database.ts'

/** The database for someone who is still to be admitted: reads at once, writes only behind the gate. */
export class Gated implements Database {
  readonly #database: Database
  readonly #gate: Promise<void>

  constructor(database: Database, gate: Promise<void>) {
    this.#database = database
    this.#gate = gate
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    return this.#database.read(statement, ...values)
  }

  readSoon<R extends Row>(statement: Statement<R>, ...values: Value[]): Soon<R[]> {
    return this.#database.readSoon(statement, ...values)
  }

  look<T>(work: () => Work<T>): Promise<T> {
    return this.#database.look(work)
  }

  async write<T>(work: () => Work<T>, repeating: Repeating): Promise<T> {
    await this.#gate
    return this.#database.write(work, repeating)
  }

  async writeTogether<T>(order: string, work: () => Work<T>): Promise<T> {
    await this.#gate
    return this.#database.writeTogether(order, work)
  }

  async exclusively<T>(work: () => Work<T>): Promise<T> {
    await this.#gate
    return this.#database.exclusively(work)
  }

  version(): Soon<Version | undefined> {
    return this.#database.version()
  }

  stats() {
    return this.#database.stats()
  }

  close(): Promise<void> {
    return this.#database.close()
  }
}
