import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadOrder, LoadResult } from './generator.ts'
import { loadByWrk, wrkCan } from './wrk.ts'

const generator = fileURLToPath(new URL('generator.ts', import.meta.url))

/** Sends a load from a process of its own, so that its work is never counted as the server's. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  if (wrkCan(order)) return loadByWrk(order)
  const child = fork(generator)
  child.send(order)
  const failed = once(child, 'exit').then(([code]) => {
    throw new Error(`the load generator exited with ${code}`)
  })
  const [result] = await Promise.race([once(child, 'message'), failed])
  return result
}
