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

/** The database, migrated, and the keys, proven to open it. */
export async function openService(config: Config, options: Omit<OpenOptions, 'clock'> = {}): Promise<Service> {
  const clock = systemClock
  const ring = loadKeyRing(config.masterKey)
  const store = await openStore(config.database, { clock, ...options })
  try {
    const tokens = await unlock(ring, store.keys, clock.now())
    return { store, tokens, memory: new Memory(() => store.version()), clock }
  } catch (error) {
    await store.close()
    throw error
  }
}
