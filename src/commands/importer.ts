import { ServiceError } from '../errors.ts'
import type { Service } from '../service.ts'
import type { ImportWish } from '../store/store.ts'
import { invalidRecord, type ReadRecord, wishFor } from './import-record.ts'
import type { FileRecord } from './import-records.ts'
import type { Refusals } from './refusals.ts'

/** Others wait for the transaction of a batch, so it must not become long by what is in the groups. */
const most = { groups: 1_000, mappingEntries: 5_000, characters: 1024 * 1024 }

/** Collects records into batches; while the database works on one, the next is read and its tokens sealed. */
export class Importer {
  readonly summary = { created: 0, already_there: 0, refused: 0 }
  readonly #service: Service
  readonly #teamId: number
  readonly #refusals: Refusals
  #batch = new Batch()
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
    return this.#batch.isEmpty
  }

  async take({ line, text, problem }: FileRecord, read: ReadRecord): Promise<void> {
    try {
      if (text === undefined) throw invalidRecord(problem ?? 'The record cannot be read.')
      const record = read(text)
      const wish = wishFor(record, this.#service.tokens, this.#teamId, this.#now)
      this.#batch.add(line, wish, Object.keys(record.mapping ?? {}).length, text.length)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      this.#batch.refusals.push([line, error])
    }
    if (this.#batch.isFull) await this.#store()
  }

  async end(): Promise<void> {
    await this.#store()
    await this.#storing
  }

  /** When it stops half-way: what was begun is counted too. */
  async settled(): Promise<void> {
    await this.#storing.catch(() => {})
  }

  async #store(): Promise<void> {
    await this.#storing
    const { lines, wishes, refusals } = this.#batch
    const { userGroups } = this.#service.store.forTeam(this.#teamId, null)
    const stored = userGroups.importBatch(wishes, this.#now)
    this.#storing = stored.then((outcomes) => {
      for (const [index, outcome] of outcomes.entries())
        if (outcome instanceof ServiceError) refusals.push([lines[index] ?? 0, outcome])
        else this.summary[outcome] += 1
      this.#refuse(refusals)
    })
    // It is awaited with the next batch; until then a failure is nobody's.
    this.#storing.catch(() => {})
    this.#batch = new Batch()
    this.#now = this.#service.clock.now()
  }

  /** In the order of the file, whoever refused them. */
  #refuse(refusals: Refusal[]): void {
    this.summary.refused += refusals.length
    for (const [line, error] of refusals.sort(([one], [other]) => one - other)) this.#refusals.add(line, error)
  }
}

type Refusal = [line: number, error: ServiceError]

class Batch {
  readonly lines: number[] = []
  readonly wishes: ImportWish[] = []
  readonly refusals: Refusal[] = []
  #mappingEntries = 0
  #characters = 0

  add(line: number, wish: ImportWish, mappingEntries: number, characters: number): void {
    this.lines.push(line)
    this.wishes.push(wish)
    this.#mappingEntries += mappingEntries
    this.#characters += characters
  }

  get isEmpty(): boolean {
    return this.wishes.length + this.refusals.length === 0
  }

  get isFull(): boolean {
    return (
      this.wishes.length + this.refusals.length >= most.groups ||
      this.#mappingEntries >= most.mappingEntries ||
      this.#characters >= most.characters
    )
  }
}
