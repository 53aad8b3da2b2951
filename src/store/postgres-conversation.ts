import type pg from 'pg'
import type { Query, Row } from './database.ts'
import { askServer } from './postgres-query.ts'

type Sent = 'begin' | 'commit' | 'rollback' | Query

/**
 * What is sent on one connection in the course of a transaction. What nobody needs the answer of is not waited for: it
 * travels with the next, and who asks that one hears how it went.
 */
export class Conversation {
  readonly #client: pg.PoolClient
  #unheard: Promise<unknown>[] = []

  constructor(client: pg.PoolClient) {
    this.#client = client
  }

  tell(query: Sent): void {
    if (this.#unheard.length === 0) this.#client.connection.stream.cork()
    const answer = this.#ask(query)
    answer.catch(() => {})
    this.#unheard.push(answer)
  }

  async ask(query: Sent): Promise<Row[]> {
    const unheard = this.#unheard
    const answer = this.#send(query)
    // The first that failed says why; those behind it only say that one did.
    await Promise.all([...unheard, answer])
    return answer
  }

  /** Ends it, however the rest of it went; returns why the connection can be used no more. */
  giveUp(): Promise<Error | undefined> {
    return this.#send('rollback').then(
      () => undefined,
      (failure: Error) => failure,
    )
  }

  #send(query: Sent): Promise<Row[]> {
    const answer = this.#ask(query)
    if (this.#unheard.length > 0) this.#client.connection.stream.uncork()
    this.#unheard = []
    return answer
  }

  async #ask(query: Sent): Promise<Row[]> {
    if (typeof query !== 'string') return askServer(this.#client, query.statement, query.values)
    await this.#client.query(query)
    return []
  }
}
