import type pg from 'pg'

type Sent = string | pg.QueryConfig

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
    const answer = this.#client.query(query)
    answer.catch(() => {})
    this.#unheard.push(answer)
  }

  async ask(query: Sent) {
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

  #send(query: Sent) {
    const answer = this.#client.query(query)
    if (this.#unheard.length > 0) this.#client.connection.stream.uncork()
    this.#unheard = []
    return answer
  }
}
