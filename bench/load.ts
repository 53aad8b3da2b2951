import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadOrder, LoadResult } from './generator.ts'

const program = fileURLToPath(new URL('generator.ts', import.meta.url))

/** Beyond those of a load. */
export const patienceSeconds = 30

/** Sends loads from a process of its own, so that its work is never counted as the server's. */
export class Generator {
  #child: ChildProcess | undefined

  async load(order: LoadOrder): Promise<LoadResult> {
    this.#child ??= fork(program)
    const child = this.#child
    const seconds = order.seconds + (order.settling ?? 0) + patienceSeconds
    const tooLong = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
    const over = new AbortController()
    try {
      const ended = once(child, 'exit', over).then(([code]) => {
        this.#child = undefined
        throw new Error(code === null ? `a load took more than ${seconds} s` : `the load generator exited with ${code}`)
      })
      child.send(order)
      const [result] = await Promise.race([once(child, 'message', over), ended])
      return result
    } finally {
      clearTimeout(tooLong)
      over.abort()
    }
  }

  [Symbol.dispose](): void {
    this.#child?.disconnect()
  }
}

export async function load(order: LoadOrder): Promise<LoadResult> {
  using generator = new Generator()
  return await generator.load(order)
}
