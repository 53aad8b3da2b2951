import { hash } from 'node:crypto'
import { ServiceError } from '../errors.ts'
import type { NewEvent } from '../events/event.ts'
import type { Soon } from '../soon.ts'

export type Engine = 'sqlite' | 'postgres'
export type Value = string | number | Uint8Array | null
export type Row = readonly Value[]

/** Stands for all that is committed, and stays the same as long as that does. */
export type Version = number | string

declare const rowOf: unique symbol

/** One SQL text with $1, $2 … for its values. Its rows come as arrays. */
export interface Statement<R extends Row> {
  readonly text: string
  /** The same to SQLite, from which it differs where a fragment does. */
  readonly sqlite: string
  /** Under which a server keeps it prepared: that of no other text, whichever version of the program asks. */
  readonly name: string
  /** PostgreSQL's types of its values, for one that many ask at the same time: then they are asked for at once. */
  readonly types?: readonly string[]
  /** Nobody waits for the answer of one that does not. */
  readonly givesRows: boolean
  /** All that it returns, when it has changed something, is its first value. */
  readonly givesFirstValue?: boolean
  readonly [rowOf]?: R
}

/** What several statements share of their text, such as a list of columns, or what each engine is told in words of its own:
 * written in the source, and never a value. */
export type Fragment = Readonly<Record<Engine, string>>

export function fragment(text: TemplateStringsArray, ...fragments: Fragment[]): Fragment {
  const said = (engine: Engine) => String.raw({ raw: text }, ...fragments.map((each) => each[engine])).trim()
  return { postgres: said('postgres'), sqlite: said('sqlite') }
}

export function sql<R extends Row = []>(...template: Parameters<typeof fragment>): Statement<R> {
  const { postgres, sqlite } = fragment(...template)
  return statementOf<R>(postgres, sqlite)
}

export function statementOf<R extends Row = []>(text: string, sqlite = text): Statement<R> {
  const name = `ugs_${hash('sha256', text).slice(0, 32)}`
  return { name, text, sqlite, givesRows: /^select\b|\breturning\b/.test(text) }
}

/** A statement of which many with values of their own wait at the same time. */
export function shared<R extends Row = []>(...types: readonly string[]) {
  return (...template: Parameters<typeof sql>): Statement<R> => ({ ...sql<R>(...template), types })
}

/** The same for a change of one row that tells whether it was made: it returns the column whose value is $1. */
export function sharedChange<R extends Row>(...types: readonly string[]) {
  return (text: TemplateStringsArray): Statement<R> => ({ ...shared<R>(...types)(text), givesFirstValue: true })
}

export interface Query {
  statement: Statement<Row>
  values: readonly Value[]
}

/** A query, or what happened: the events of a transaction are numbered and written at its end. */
type Step = Query | { event: NewEvent }

/**
 * The statements of one transaction, each seeing the rows of the one before. A generator, so that SQLite can run many
 * of them within one commit without ever letting go of the thread, and PostgreSQL can await each.
 */
export type Work<T> = Generator<Step, T, Row[]>

export function* run<R extends Row>(statement: Statement<R>, ...values: Value[]): Work<R[]> {
  return (yield { statement, values }) as unknown as R[]
}

/** Goes on to the next query, noting the events on the way. */
export function nextQuery<T>(work: Work<T>, rows: Row[], events: NewEvent[]): Query | { result: T } {
  let step = work.next(rows)
  while (!step.done && 'event' in step.value) {
    events.push(step.value.event)
    step = work.next([])
  }
  return step.done ? { result: step.value } : (step.value as Query)
}

/** What a lost connection leaves open: work that is repeatable recognises what an earlier run of it committed. */
export type Repeating = 'repeatable' | 'once'

export interface DatabaseStats {
  commits: number
  connections: number
  idle: number
  waiting: number
}

/** As much of a database as the stores of a team need. */
export interface TeamDatabase {
  read<R extends Row>(statement: Statement<R>, ...values: Value[]): Promise<R[]>
  /** Several reads, each seeing what is committed by then. */
  look<T>(work: () => Work<T>): Promise<T>
  /** Resolves after the commit: what it returns is durable. */
  write<T>(work: () => Work<T>, repeating: Repeating): Promise<T>
  /**
   * The same for creates and rotations of user groups, which come in great numbers and are repeatable: they may share a
   * transaction. `order` is the same in every process for work on the same thing, so that two that share some of it wait
   * for each other in one order. Their events tell all that they change.
   */
  writeTogether<T>(order: string, work: () => Work<T>): Promise<T>
}

/** Told of a user group that has changed, before anybody else is, where the version does not tell. */
export type OnGroupChanged = (teamId: number, providedId: string) => void

/** What an engine must give. Both drivers export a function that opens one. */
export interface Database extends TeamDatabase {
  readonly engine: Engine
  /** At once where the engine can: what one has asked for is then remembered for the others of the same turn. */
  readSoon<R extends Row>(statement: Statement<R>, ...values: Value[]): Soon<R[]>
  /** A write that no other process's `exclusively` overlaps: migrations, the first team, the keys. */
  exclusively<T>(work: () => Work<T>): Promise<T>
  /**
   * Another as soon as any process has committed anything; undefined when the engine cannot tell. It may stay the same
   * after creates by this process, and after rotations that `OnGroupChanged` is told of.
   */
  version(): Soon<Version | undefined>
  stats(): DatabaseStats
  close(): Promise<void>
}

/** What a driver throws when another row has the value already. */
export class UniqueViolation extends ServiceError {
  constructor(cause: unknown) {
    super('conflict', { cause })
  }
}

/** What a driver throws when a table is not there: nothing was migrated yet, or a backup is being restored. */
export class MissingTable extends ServiceError {
  constructor(cause: unknown) {
    super('unavailable', { cause })
  }
}
