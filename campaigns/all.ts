import type { Campaign } from './campaign.ts'
import { disk } from './disk.ts'
import { failover } from './failover.ts'
import { kill } from './kill.ts'
import { outage } from './outage.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  disk,
  failover,
  kill,
  outage,
}
