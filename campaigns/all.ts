import type { Campaign } from './campaign.ts'
import { crash } from './crash.ts'
import { kill } from './kill.ts'
import { linearizable } from './linearizable.ts'
import { powerLoss } from './power-loss.ts'
import { proxies } from './proxies.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  crash,
  kill,
  linearizable,
  'power-loss': powerLoss,
  proxies,
}
