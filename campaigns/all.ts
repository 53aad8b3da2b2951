import { backup } from './backup.ts'
import type { Campaign } from './campaign.ts'
import { clock } from './clock.ts'
import { crash } from './crash.ts'
import { disk } from './disk.ts'
import { failover } from './failover.ts'
import { greedy } from './greedy.ts'
import { hostile } from './hostile.ts'
import { keys } from './keys.ts'
import { kill } from './kill.ts'
import { linearizable } from './linearizable.ts'
import { outage } from './outage.ts'
import { powerLoss } from './power-loss.ts'
import { proxies } from './proxies.ts'
import { secrets } from './secrets.ts'
import { tenancy } from './tenancy.ts'
import { upgrade } from './upgrade.ts'

/** Every campaign by its name: `npm run prove:<name>`. */
export const campaigns: Record<string, Campaign> = {
  backup,
  clock,
  crash,
  disk,
  failover,
  greedy,
  hostile,
  keys,
  kill,
  linearizable,
  outage,
  'power-loss': powerLoss,
  proxies,
  secrets,
  tenancy,
  upgrade,
}
