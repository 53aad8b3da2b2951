/** Milliseconds. The system makes about a sixth of one of it. */
const napLength = 0.1
/** Of more at a time each costs hardly less. */
const enough = 16
/** Turns. Where requests come one by one, waiting for others brings nothing. */
const mostUnawaited = 64

const nothing = new Int32Array(new SharedArrayBuffer(4))

function nap(): void {
  Atomics.wait(nothing, 0, 0, napLength)
}

/**
 * Serves what arrives in one turn of the event loop in one go, which costs less for each the more they are. Where fewer
 * have come than half of those who could, it sleeps for a moment, so that the others come along: a network card gathers
 * packets likewise before it interrupts. Asleep, the process takes no time from those who send the requests; to them it
 * may otherwise be woken for each. A nap in which not as many came again is followed by twice as many turns without one.
 */
export class Arrivals<Item> {
  readonly #serve: (items: readonly Item[]) => void
  readonly #returning: () => number
  readonly #nap: () => void
  #come: Item[] = []
  #unawaited = 0
  #unawaitedBehindVain = 0

  constructor(serve: (items: readonly Item[]) => void, returning: () => number, sleep = nap) {
    this.#serve = serve
    this.#returning = returning
    this.#nap = sleep
  }

  add(item: Item): void {
    if (this.#come.push(item) === 1) setImmediate(() => this.#serveOrWait())
  }

  #serveOrWait(): void {
    if (this.#unawaited > 0) {
      this.#unawaited -= 1
      this.#serveAll()
    } else if (this.#come.length < Math.min(this.#returning() / 2, enough)) this.#waitForMore()
    else this.#serveAll()
  }

  #waitForMore(): void {
    const before = this.#come.length
    this.#nap()
    // By then they have been read.
    setImmediate(() => {
      const isVain = this.#come.length < 2 * before
      this.#unawaitedBehindVain = isVain ? Math.min(2 * this.#unawaitedBehindVain + 1, mostUnawaited) : 0
      this.#unawaited = this.#unawaitedBehindVain
      this.#serveAll()
    })
  }

  #serveAll(): void {
    const come = this.#come
    this.#come = []
    this.#serve(come)
  }
}
