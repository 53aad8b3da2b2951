import type { Campaign } from './campaign.ts'
import { greedy } from './greedy.ts'
import { hostile } from './hostile.ts'
import { kill } from './kill.ts'
import { secrets } from './secrets.ts'
import { tenancy } from './tenancy.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  greedy,
  hostile,
  kill,
  secrets,
  tenancy,
}
