import { ServiceError } from '../errors.ts'
import type { Service } from '../service.ts'
import type { ImportOutcome, ImportWish } from '../store/store.ts'
import { invalidRecord, type ReadRecord, wishFor } from './import-record.ts'
import type { FileRecord } from './import-records.ts'
import type { Refusals } from './refusals.ts'

const batchSize = 1_000

/** Collects records into batches; while the database works on one, the next is read and its tokens sealed. */
export class Importer {
  readonly summary = { created: 0, already_there: 0, refused: 0 }
  readonly #service: Service
  readonly #teamId: number
  readonly #refusals: Refusals
  #lines: number[] = []
  #wishes: ImportWish[] = []
  #now: number
  #storing: Promise<void> = Promise.resolve()

  constructor(service: Service, teamId: number, refusals: Refusals) {
    this.#service = service
    this.#teamId = teamId
    this.#refusals = refusals
    this.#now = service.clock.now()
  }

  /** Between two batches. */
  get isIdle(): boolean {
    return this.#wishes.length === 0
  }

  async take({ line, text, problem }: FileRecord, read: ReadRecord): Promise<void> {
    try {
      if (text === undefined) throw invalidRecord(problem ?? 'The record cannot be read.')
      this.#wishes.push(wishFor(read(text), this.#service.tokens, this.#teamId, this.#now))
      this.#lines.push(line)
    } catch (error) {
      this.#refuse(line, error)
    }
    if (this.#wishes.length >= batchSize) await this.#store()
  }

  async end(): Promise<void> {
    await this.#store()
    await this.#storing
  }

  async #store(): Promise<void> {
    await this.#storing
    const lines = this.#lines
    const { userGroups } = this.#service.store.forTeam(this.#teamId, null)
    const stored = userGroups.importBatch(this.#wishes, this.#now)
    this.#storing = stored.then((outcomes) => {
      for (const [index, outcome] of outcomes.entries()) this.#count(outcome, lines[index])
    })
    // It is awaited with the next batch; until then a failure is nobody's.
    this.#storing.catch(() => {})
    this.#lines = []
    this.#wishes = []
    this.#now = this.#service.clock.now()
  }

  #count(outcome: ImportOutcome, line = 0): void {
    if (outcome instanceof ServiceError) this.#refuse(line, outcome)
    else this.summary[outcome] += 1
  }

  #refuse(line: number, error: unknown): void {
    if (!(error instanceof ServiceError)) throw error
    this.summary.refused += 1
    this.#refusals.add(line, error)
  }
}
