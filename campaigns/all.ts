import { backup } from './backup.ts'
import type { Campaign } from './campaign.ts'
import { clock } from './clock.ts'
import { keys } from './keys.ts'
import { kill } from './kill.ts'
import { upgrade } from './upgrade.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  kill,
  keys,
  backup,
  clock,
  upgrade,
}
