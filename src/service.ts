import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { loadKeyRing } from './master-key.ts'
import { Memory } from './memory.ts'
import { type OpenOptions, openStore } from './store/open.ts'
import type { Store } from './store/store.ts'
import type { Tokens } from './tokens/tokens.ts'
import { unlock } from './unlock.ts'

/** What every operation and command works with. */
export interface Service {
  store: Store
  tokens: Tokens
  memory: Memory
  clock: Clock
}

interface ServiceOptions extends Omit<OpenOptions, 'clock' | 'onGroupChanged'> {
  /** Whether a master key that the database does not know yet comes into use. */
  bringsKey?: boolean
}

/** The database, by default migrated, and the keys, proven to open it. */
export async function openService(
  config: Config,
  { bringsKey = false, ...options }: ServiceOptions = {},
): Promise<Service> {
  const clock = systemClock
  const ring = loadKeyRing(config.masterKey)
  const memory = new Memory(() => store.version())
  const onGroupChanged = (teamId: number, providedId: string) => memory.forget(teamId, providedId)
  const store = await openStore(config.database, { clock, onGroupChanged, ...options })
  try {
    const tokens = await unlock(ring, store, clock.now(), bringsKey)
    return { store, tokens, memory, clock }
  } catch (error) {
    await store.close()
    throw error
  }
}
