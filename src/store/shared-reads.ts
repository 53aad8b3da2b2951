import type { Values } from './at-once.ts'
import type { Row, Statement } from './database.ts'

interface Question {
  values: Values
  promise: Promise<Row[]>
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

type AskForMany = (statement: Statement<Row>, asked: readonly Values[]) => Promise<Row[][]>

type AskInLine = (asked: readonly Values[]) => Promise<Row[][]>

const mostAtOnce = 1_000

/**
 * The reads that wait together are asked for at once: while one lot is on its way to the server, the next gathers. A
 * question only ever joins a lot that has not been sent, so that no answer is older than its question; those who ask
 * the same share one answer.
 */
export class SharedReads {
  readonly #ask: AskForMany
  readonly #lines = new Map<Statement<Row>, Line>()

  constructor(ask: AskForMany) {
    this.#ask = ask
  }

  read(statement: Statement<Row>, values: Values): Promise<Row[]> {
    let line = this.#lines.get(statement)
    if (line === undefined) {
      line = new Line((asked) => this.#ask(statement, asked))
      this.#lines.set(statement, line)
    }
    return line.join(values)
  }
}

/** Those who wait for one statement. */
class Line {
  readonly #ask: AskInLine
  #waiting = new Map<string, Question>()
  #isBusy = false

  constructor(ask: AskInLine) {
    this.#ask = ask
  }

  join(values: Values): Promise<Row[]> {
    const key = keyOf(values)
    const alike = this.#waiting.get(key)
    if (alike !== undefined) return alike.promise
    const question = { values, ...Promise.withResolvers<Row[]>() }
    this.#waiting.set(key, question)
    if (!this.#isBusy) {
      this.#isBusy = true
      // One turn of the event loop, so that the requests that arrived together are all in the line.
      setImmediate(() => void this.#serve())
    }
    return question.promise
  }

  async #serve(): Promise<void> {
    while (this.#waiting.size > 0) {
      const questions = [...this.#waiting.values()].slice(0, mostAtOnce)
      for (const { values } of questions) this.#waiting.delete(keyOf(values))
      await this.#answer(questions)
    }
    this.#isBusy = false
  }

  async #answer(questions: readonly Question[]): Promise<void> {
    try {
      const rows = await this.#ask(questions.map(({ values }) => values))
      for (const [index, { resolve }] of questions.entries()) resolve(rows[index] ?? [])
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }
}

function keyOf(values: Values): string {
  return values.map((value) => (value instanceof Uint8Array ? latin1(value) : value)).join('\0')
}

function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}
