/** By the clock it is half as long again. */
const napMilliseconds = 0.1
/** With more at a time each costs hardly less. */
const enough = 16
/** Where requests come one by one, waiting for others brings nothing. */
const mostTurnsUnawaited = 64

const nothing = new Int32Array(new SharedArrayBuffer(4))

function nap(): void {
  Atomics.wait(nothing, 0, 0, napMilliseconds)
}

/**
 * Serves what arrives in one turn of the event loop in one go: the more there are, the less each costs. Where fewer have
 * come than half of those who may come back, it sleeps for a moment first, so that others come along, as a network card
 * gathers packets before it interrupts. Where not as many came meanwhile as had before, it does without for a while.
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
      this.#unawaitedBehindVain = isVain ? Math.min(2 * this.#unawaitedBehindVain + 1, mostTurnsUnawaited) : 0
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
