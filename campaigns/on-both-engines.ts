import type { Engine } from '../test/support/engines.ts'
import { Premises } from '../test/support/premises.ts'
import type { Attempt } from './campaign.ts'

/** Both engines at once, each on a new database; when one fails, nothing of the other is left running. */
export async function onBothEngines<T>(
  { engines, environment }: Pick<Attempt, 'engines' | 'environment'>,
  use: (premises: Premises, engine: Engine) => Promise<T>,
): Promise<T[]> {
  const places = await Promise.all(
    engines.map(async (engine) => ({ engine, premises: await Premises.open(undefined, engine, environment) })),
  )
  const uses = places.map(({ premises, engine }) => use(premises, engine))
  try {
    return await Promise.all(uses)
  } finally {
    await Promise.all(places.map(({ premises }) => premises.close()))
    // Without its service the other fails too, and takes away what it has started beside it.
    await Promise.allSettled(uses)
  }
}
