import { Premises } from '../test/support/premises.ts'
import type { Attempt } from './campaign.ts'

/** The same on one engine after the other, each on a new database; a failure names the engine and leaves nothing running. */
export async function onEachEngine<Result>(
  { size, engines, environment, progress }: Attempt,
  work: (premises: Premises, onDone: (done: number) => void) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const [index, engine] of engines.entries()) {
    const premises = await Premises.open(undefined, engine, environment)
    try {
      const onDone = (done: number) => progress(Math.floor((index * size + done) / engines.length), engine.name)
      results.push(await work(premises, onDone))
    } catch (error) {
      const failure = error as Error
      failure.message = `on ${engine.name}, ${failure.message}`
      throw failure
    } finally {
      await premises.close()
    }
  }
  return results
}
