import { apart, type SharedWrite } from './shared-writes.ts'
import { waitBriefly } from './wait-briefly.ts'

const mostTogether = 200
const sharePatience = 1_000
const gatherPatience = 10
/**
 * The share of those waited for that may stay away before the wait counts as vain. Where nobody comes back, others come: in
 * the time of one transaction about half as many as shared it, for that is how they came to be so many.
 */
const mostMissing = 1 / 4
/** Where those who were answered do not come back, waiting for them brings nothing. */
const transactionsUnawaitedBehindVain = 16

/**
 * Writes that share transactions, one behind the other: while one is under way, the next gathers. Those who have just been
 * answered often write again at once, and if the next did not wait for them, they would fall into parts that take turns
 * for good, with a transaction for each. So it waits, but no longer than the last one took.
 */
export class WriteQueue {
  readonly #share: (writes: readonly SharedWrite[]) => Promise<void>
  #waiting: SharedWrite[] = []
  #isSharing = false
  #answered = 0
  /** Of those answered, as many as have not come back. */
  #missing = 0
  #endOfPatience = 0
  #unawaited = 0
  #begin: () => void = () => {}

  constructor(share: (writes: readonly SharedWrite[]) => Promise<void>) {
    this.#share = share
  }

  get length(): number {
    return this.#waiting.length
  }

  add(write: SharedWrite): void {
    this.#waiting.push(write)
    this.#missing -= 1
    if (this.#isComplete) this.#begin()
    if (this.#isSharing) return
    this.#isSharing = true
    setImmediate(() => void this.#shareAll())
  }

  get #isComplete(): boolean {
    return this.#missing <= 0 || this.#waiting.length >= mostTogether
  }

  async #shareAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#unawaited > 0) this.#unawaited -= 1
      else await this.#gather()
      const [together, later] = apart(this.#waiting, mostTogether)
      this.#waiting = later
      const began = performance.now()
      await waitBriefly(this.#share(together), sharePatience)
      const ended = performance.now()
      this.#endOfPatience = ended + Math.min(ended - began, gatherPatience)
      this.#answered = together.length
      this.#missing = together.length
    }
    this.#isSharing = false
  }

  /** Waits until as many have come as were answered, but not for long. */
  async #gather(): Promise<void> {
    // Of a fraction of a millisecond a timer knows nothing.
    const milliseconds = Math.ceil(this.#endOfPatience - performance.now())
    if (this.#isComplete || milliseconds <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, milliseconds)
    this.#begin = resolve
    await promise
    clearTimeout(timer)
    if (this.#missing > this.#answered * mostMissing) this.#unawaited = transactionsUnawaitedBehindVain
  }
}
