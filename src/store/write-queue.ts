import { apart, type SharedWrite } from './shared-writes.ts'
import { waitBriefly } from './wait-briefly.ts'

const mostTogether = 200
const sharePatience = 1_000
const gatherPatience = 10
/** Transactions. Where those who were answered do not come back, waiting for them brings nothing. */
const unawaitedBehindVain = 16

/**
 * Writes that share transactions, one behind the other: while one is under way, the next gathers. Those who have just been
 * answered often write again at once, and if the next did not wait for them, the two halves would take turns for good,
 * with twice as many transactions. So it waits, but no longer than the last one took.
 */
export class WriteQueue {
  readonly #share: (writes: readonly SharedWrite[]) => Promise<void>
  #waiting: SharedWrite[] = []
  #isSharing = false
  #unawaited = 0
  #enough = Number.POSITIVE_INFINITY
  #begin: () => void = () => {}

  constructor(share: (writes: readonly SharedWrite[]) => Promise<void>) {
    this.#share = share
  }

  get length(): number {
    return this.#waiting.length
  }

  add(write: SharedWrite): void {
    this.#waiting.push(write)
    if (this.#waiting.length >= this.#enough) this.#begin()
    if (this.#isSharing) return
    this.#isSharing = true
    setImmediate(() => void this.#shareAll())
  }

  async #shareAll(): Promise<void> {
    let answered = 0
    let took = 0
    while (this.#waiting.length > 0) {
      if (this.#unawaited > 0) this.#unawaited -= 1
      else await this.#gather(answered, Math.min(took, gatherPatience))
      const [together, later] = apart(this.#waiting, mostTogether)
      this.#waiting = later
      const began = performance.now()
      await waitBriefly(this.#share(together), sharePatience)
      took = performance.now() - began
      answered = together.length
    }
    this.#isSharing = false
  }

  /** Waits for as many again as there were, but not for long. */
  async #gather(answered: number, milliseconds: number): Promise<void> {
    const before = this.#waiting.length
    const enough = Math.min(before + answered, mostTogether)
    if (before >= enough) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds)
    this.#enough = enough
    this.#begin = resolve
    await promise
    this.#enough = Number.POSITIVE_INFINITY
    clearTimeout(timer)
    if (this.#waiting.length - before < answered / 2) this.#unawaited = unawaitedBehindVain
  }
}
