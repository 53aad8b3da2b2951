import { setTimeout as pause } from 'node:timers/promises'
import type { NewEvent } from '../events/event.ts'
import { type OnGroupChanged, sql, type Work } from './database.ts'
import { writeEvents } from './events.ts'
import type { FilesInPlace } from './files-in-place.ts'
import { gather } from './gather.ts'
import { apart, performTogether, type SharedWrite } from './shared-writes.ts'
import { patience, type SqliteConnection } from './sqlite-connection.ts'
import { isBusy, translate } from './sqlite-errors.ts'
import type { WalIndex } from './wal-index.ts'

const savepoint = sql`savepoint one`
const release = sql`release one`
const rollbackToSavepoint = sql`rollback to one`

interface QueuedWrite extends Omit<SharedWrite, 'order'> {
  /** Without one it goes through the transaction alone. */
  order: string | undefined
}

type Settle = () => void

/** The writes that wait together share one transaction and one fsync; each still fails alone. */
export class SqliteWrites {
  readonly #connection: SqliteConnection
  readonly #files: FilesInPlace
  readonly #index: WalIndex
  readonly #onGroupChanged: OnGroupChanged | undefined
  #queue: QueuedWrite[] = []
  #draining: Promise<void> | undefined
  #commits = 0

  constructor(connection: SqliteConnection, files: FilesInPlace, index: WalIndex, onGroupChanged?: OnGroupChanged) {
    this.#connection = connection
    this.#files = files
    this.#index = index
    this.#onGroupChanged = onGroupChanged
  }

  add<T>(work: () => Work<T>, order?: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#queue.push({ order, work, resolve: resolve as QueuedWrite['resolve'], reject })
    this.#draining ??= this.#drain()
    return promise
  }

  commit(): void {
    this.#connection.exec('commit')
    // Before anybody is told: it may have gone in between.
    this.#files.insist()
  }

  stats() {
    return { commits: this.#commits, idle: this.#draining ? 0 : 1, waiting: this.#queue.length }
  }

  async drained(): Promise<void> {
    await this.#draining
  }

  async #drain(): Promise<void> {
    await gather()
    const deadline = performance.now() + patience
    while (this.#queue.length > 0) {
      try {
        this.#begin()
      } catch (error) {
        if (isBusy(error) && performance.now() <= deadline) {
          await pause(1 + Math.random() * 4)
          continue
        }
        for (const write of this.#queue.splice(0)) write.reject(translate(error))
        break
      }
      // At once: a read in between would be part of the transaction, and could end it.
      this.#commitTogether(this.#queue.splice(0))
    }
    this.#draining = undefined
  }

  #begin(): void {
    this.#files.insist()
    this.#connection.exec('begin immediate')
  }

  #commitTogether(writes: readonly QueuedWrite[]): void {
    const settled: Settle[] = []
    const events: NewEvent[] = []
    try {
      const [together, later] = apart(writes.filter(isShared))
      settled.push(this.#performInStep(together, events))
      const alone = [...later, ...writes.filter((write) => !isShared(write))]
      for (const write of alone) settled.push(this.#performAlone(write, events))
      this.#connection.perform(writeEvents(events), [])
      if (alone.length === 0 && tellsAll(events) && this.#onGroupChanged !== undefined)
        this.#commitAndTell(events, this.#onGroupChanged)
      else this.commit()
      this.#commits += 1
      for (const settle of settled) settle()
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('rollback')
      if (error instanceof OutOfStep) this.#queue.unshift(...writes.map((write) => ({ ...write, order: undefined })))
      else for (const write of writes) write.reject(translate(error))
    }
  }

  /** To be told which user groups have changed is enough: the version need not say it. */
  #commitAndTell(events: readonly NewEvent[], onGroupChanged: OnGroupChanged): void {
    this.#index.passOver(() => this.commit())
    for (const { kind, teamId, subject } of events)
      if (kind !== 'user_group.created' && subject !== null) onGroupChanged(teamId, subject)
  }

  /**
   * What they ask at the same time is asked one behind the other: what the first has brought into the processor's caches
   * is still there for the next. Behind no savepoint, for which SQLite copies every page that is changed.
   */
  #performInStep(writes: readonly SharedWrite[], events: NewEvent[]): Settle {
    try {
      return this.#performSteps(writes, events)
    } catch (error) {
      throw new OutOfStep('one of them failed', { cause: error })
    }
  }

  #performSteps(writes: readonly SharedWrite[], events: NewEvent[]): Settle {
    const steps = performTogether(writes, events)
    let next = steps.next()
    while (!next.done) {
      const { statement, questions } = next.value
      next = steps.next(questions.map((values) => this.#connection.run(statement, values)))
    }
    return next.value
  }

  #performAlone(write: QueuedWrite, events: NewEvent[]): Settle {
    this.#connection.run(savepoint, [])
    const own: NewEvent[] = []
    try {
      const result = this.#connection.perform(write.work(), own)
      this.#connection.run(release, [])
      events.push(...own)
      return () => write.resolve(result)
    } catch (error) {
      // A full disk, say, rolls the whole transaction back: then nobody's write has happened.
      if (!this.#connection.isTransaction) throw error
      this.#connection.run(rollbackToSavepoint, [])
      this.#connection.run(release, [])
      return () => write.reject(translate(error))
    }
  }
}

/** One has failed without a savepoint to go back to. Nothing of the transaction is kept, and in the next each goes alone. */
class OutOfStep extends Error {}

/**
 * Creates and rotations, each of one user group. Without any, nothing may have been written: then the one commit more that
 * the WAL index counts would be another process's.
 */
function tellsAll(events: readonly NewEvent[]): boolean {
  const isTold = ({ kind }: NewEvent) => kind === 'user_group.created' || kind === 'user_group.token_rotated'
  return events.length > 0 && events.every(isTold)
}

function isShared(write: QueuedWrite): write is SharedWrite {
  return write.order !== undefined
}
