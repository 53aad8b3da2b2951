import { connect, type Socket } from 'node:net'
import { type RawAnswer, type RawRequest, takeAnswer, toBytes } from '../test/support/raw-request.ts'

const patience = 20_000

/** Keep-alive connections, one after the other, with many requests at once on each. */
export class Pipeline {
  readonly #url: URL
  #socket: Socket | undefined

  constructor(url: string) {
    this.#url = new URL(url)
  }

  /** Every request is answered once, in order; what stands behind an answer that ends the connection is sent again. */
  async exchange(requests: readonly RawRequest[]): Promise<RawAnswer[]> {
    const answers: RawAnswer[] = []
    while (answers.length < requests.length) {
      const some = await this.#exchange(requests.slice(answers.length))
      if (some.length === 0) throw new Error(`no answer to ${describe(requests[answers.length])}`)
      answers.push(...some)
    }
    return answers
  }

  close(): void {
    this.#socket?.destroy()
  }

  async #exchange(requests: readonly RawRequest[]): Promise<RawAnswer[]> {
    const socket = this.#connected()
    const answers: RawAnswer[] = []
    let received: Buffer = Buffer.alloc(0)
    const { promise: ended, resolve: end, reject } = Promise.withResolvers<void>()
    const read = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      try {
        for (let request = requests[answers.length]; request; request = requests[answers.length]) {
          const taken = takeAnswer(received, request.method === 'HEAD')
          if (taken === undefined) return
          answers.push(taken.answer)
          received = received.subarray(taken.end)
        }
        if (received.length > 0) throw new Error(`more answers than requests: ${received}`)
        end()
      } catch (error) {
        reject(error)
      }
    }
    socket.on('data', read)
    socket.once('close', end)
    const impatience = setTimeout(
      () => reject(new Error(`no answer to ${describe(requests[answers.length])}`)),
      patience,
    )
    socket.write(Buffer.concat(requests.map(toBytes)))
    try {
      await ended
    } finally {
      socket.off('data', read)
      socket.off('close', end)
      clearTimeout(impatience)
    }
    if (answers.at(-1)?.headers.connection === 'close') socket.destroy()
    return answers
  }

  #connected(): Socket {
    if (this.#socket === undefined || this.#socket.destroyed) {
      this.#socket = connect(Number(this.#url.port), this.#url.hostname)
      // What was answered before a reset counts; what was not is asked again.
      this.#socket.on('error', () => {})
    }
    return this.#socket
  }
}

function describe(request: RawRequest | undefined): string {
  return request === undefined ? 'nothing' : JSON.stringify(toBytes(request).toString('latin1').slice(0, 2_000))
}
