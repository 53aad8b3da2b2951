import type { Repeating, Row, Statement, TeamDatabase, Value, Work } from './database.ts'

/** The database for someone who is still to be admitted: reads at once, writes only behind the gate. */
export class Gated implements TeamDatabase {
  readonly #database: TeamDatabase
  readonly #gate: Promise<void>

  constructor(database: TeamDatabase, gate: Promise<void>) {
    this.#database = database
    this.#gate = gate
  }

  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]> {
    return this.#database.read(statement, ...values)
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
}
