import type { Campaign } from './campaign.ts'
import { kill } from './kill.ts'
import { proxies } from './proxies.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  kill,
  proxies,
}
