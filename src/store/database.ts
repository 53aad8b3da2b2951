import { ServiceError } from '../errors.ts'

export type Value = string | number | Uint8Array | null
export type Row = readonly Value[]

declare const rowOf: unique symbol

/** One SQL text, the same for both engines, with $1, $2 … for its values. Its rows come as arrays. */
export interface Statement<R extends Row> {
  readonly text: string
  /** Under which a server keeps it prepared. */
  readonly name: string
  readonly [rowOf]?: R
}

let statements = 0

export function sql<R extends Row = []>(text: TemplateStringsArray): Statement<R> {
  statements += 1
  return { text: text.join('').trim(), name: `ugs_${statements}` }
}

interface Step {
  statement: Statement<Row>
  values: readonly Value[]
}

/**
 * The statements of one transaction, each seeing the rows of the one before. A generator, so that SQLite can run many
 * of them within one commit without ever letting go of the thread, and PostgreSQL can await each.
 */
export type Work<T> = Generator<Step, T, Row[]>

export function* run<R extends Row>(statement: Statement<R>, ...values: Value[]): Work<R[]> {
  return (yield { statement, values }) as unknown as R[]
}

/** What a lost connection leaves open: work that is repeatable recognises what an earlier run of it committed. */
export type Repeating = 'repeatable' | 'once'

export interface DatabaseStats {
  commits: number
  connections: number
  idle: number
  waiting: number
}

/** What an engine must give. Both drivers export a function that opens one. */
export interface Database {
  readonly engine: 'sqlite' | 'postgres'
  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]>
  /** Several reads, each seeing what is committed by then. */
  look<T>(work: () => Work<T>): Promise<T>
  /** Resolves after the commit: what it returns is durable. */
  write<T>(work: () => Work<T>, repeating: Repeating): Promise<T>
  /** A write that no other process's `exclusively` overlaps: migrations, the first team, the keys. */
  exclusively<T>(work: () => Work<T>): Promise<T>
  /** Changes with every commit of any process, when the engine can tell at next to no cost; undefined when it cannot. */
  version(): number | undefined
  stats(): DatabaseStats
  close(): Promise<void>
}

/** What a driver throws when another row has the value already. */
export class UniqueViolation extends ServiceError {
  constructor(cause: unknown) {
    super('conflict', { cause })
  }
}

export function isUniqueViolation(error: unknown): boolean {
  return error instanceof UniqueViolation
}
