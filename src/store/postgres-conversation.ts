import type pg from 'pg'
import { type Query, type Row, sql } from './database.ts'
import { askServer } from './postgres-query.ts'

const begin = { statement: sql`begin`, values: [] }
const commit = { statement: sql`commit`, values: [] }
const rollback = { statement: sql`rollback`, values: [] }

/**
 * A transaction on one connection. What nobody needs the answer of is not waited for: it travels with the next that is
 * asked, which fails if it does.
 */
export class Conversation {
  readonly #client: pg.PoolClient
  readonly #patience: number | undefined
  #untold: Query[] = [begin]
  #hasBegun = false

  constructor(client: pg.PoolClient, patience?: number) {
    this.#client = client
    this.#patience = patience
  }

  tell(query: Query): void {
    this.#untold.push(query)
  }

  async ask(query: Query): Promise<Row[]> {
    const queries = [...this.#untold, query]
    this.#untold = []
    this.#hasBegun = true
    const answers = await askServer(this.#client, queries, this.#patience)
    return answers.at(-1) ?? []
  }

  async commit(): Promise<void> {
    await this.ask(commit)
  }

  /** Ends it, however the rest of it went; returns why the connection can be used no more. */
  async giveUp(): Promise<Error | undefined> {
    if (!this.#hasBegun) return undefined
    return askServer(this.#client, [rollback]).then(
      () => undefined,
      (failure: Error) => failure,
    )
  }
}
