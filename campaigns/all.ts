import type { Campaign } from './campaign.ts'

/** Every campaign by its name, `npm run prove:<name>`. It is loaded where it is run: all of them take longer than some runs. */
export const campaigns: Record<string, () => Promise<Campaign>> = {
  backup: async () => (await import('./backup.ts')).backup,
  clock: async () => (await import('./clock.ts')).clock,
  crash: async () => (await import('./crash.ts')).crash,
  disk: async () => (await import('./disk.ts')).disk,
  failover: async () => (await import('./failover.ts')).failover,
  greedy: async () => (await import('./greedy.ts')).greedy,
  hostile: async () => (await import('./hostile.ts')).hostile,
  keys: async () => (await import('./keys.ts')).keys,
  kill: async () => (await import('./kill.ts')).kill,
  linearizable: async () => (await import('./linearizable.ts')).linearizable,
  outage: async () => (await import('./outage.ts')).outage,
  'power-loss': async () => (await import('./power-loss.ts')).powerLoss,
  proxies: async () => (await import('./proxies.ts')).proxies,
  secrets: async () => (await import('./secrets.ts')).secrets,
  tenancy: async () => (await import('./tenancy.ts')).tenancy,
  upgrade: async () => (await import('./upgrade.ts')).upgrade,
}
