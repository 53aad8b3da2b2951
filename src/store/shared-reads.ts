import { quickHash } from '../quick-hash.ts'
import type { Values } from './at-once.ts'
import type { Row, Statement, Value } from './database.ts'
import { gather } from './gather.ts'
import { waitBriefly } from './wait-briefly.ts'

interface Question {
  values: Values
  promise: Promise<Row[]>
  resolve(rows: Row[]): void
  reject(error: unknown): void
}

/** One statement, and all who ask it. */
export interface Asked {
  statement: Statement<Row>
  questions: readonly Values[]
}

type Round = Map<Statement<Row>, Map<number, Question>>

const patience = 100

/**
 * The reads that wait together are sent together: while one round is on its way to the server, the next gathers, and the
 * busier the process, the more share a round trip. A question only ever joins a round that has not been sent, so that no
 * answer is older than its question; those who ask the same share one answer.
 */
export class SharedReads {
  readonly #ask: (round: readonly Asked[]) => Promise<Row[][][]>
  #next: Round = new Map()
  #isServing = false

  constructor(ask: (round: readonly Asked[]) => Promise<Row[][][]>) {
    this.#ask = ask
  }

  read(statement: Statement<Row>, values: Values): Promise<Row[]> {
    let line = this.#next.get(statement)
    if (line === undefined) {
      line = new Map()
      this.#next.set(statement, line)
    }
    let key = keyOf(values)
    let question = line.get(key)
    while (question !== undefined && !isSame(values, question.values)) question = line.get(++key)
    if (question === undefined) {
      const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
      question = { values, promise, resolve, reject }
      line.set(key, question)
    }
    if (!this.#isServing) {
      this.#isServing = true
      void this.#serve()
    }
    return question.promise
  }

  async #serve(): Promise<void> {
    while (this.#next.size > 0) {
      await gather()
      const round = this.#next
      this.#next = new Map()
      await waitBriefly(this.#answer(round), patience)
    }
    this.#isServing = false
  }

  async #answer(round: Round): Promise<void> {
    const lines = [...round].map(([statement, line]) => ({ statement, waiting: [...line.values()] }))
    try {
      const rows = await this.#ask(
        lines.map(({ statement, waiting }) => ({ statement, questions: waiting.map(({ values }) => values) })),
      )
      for (const [at, { waiting }] of lines.entries())
        for (const [index, { resolve }] of waiting.entries()) resolve(rows[at]?.[index] ?? [])
    } catch (error) {
      for (const { waiting } of lines) for (const { reject } of waiting) reject(error)
    }
  }
}

function keyOf(values: Values): number {
  let key = 0
  for (const value of values) {
    if (typeof value === 'string') key = quickHash(value, key)
    // Bytes are hashes of tokens: the first of them are as good as all.
    else key ^= value instanceof Uint8Array ? firstOf(value) : Number(value)
  }
  return key
}

function firstOf(bytes: Uint8Array): number {
  return ((bytes[0] ?? 0) << 16) | ((bytes[1] ?? 0) << 8) | (bytes[2] ?? 0)
}

function isSame(one: Values, other: Values): boolean {
  return one.every((value, index) => areEqual(value, other[index] ?? null))
}

function areEqual(one: Value, other: Value): boolean {
  if (one === other) return true
  return one instanceof Uint8Array && other instanceof Uint8Array && Buffer.compare(one, other) === 0
}
