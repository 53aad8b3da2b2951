import { fileURLToPath } from 'node:url'
import type { Environment } from '../test/support/service-process.ts'
import type { Rewrite } from './campaign.ts'

const plant = fileURLToPath(new URL('plant.ts', import.meta.url))
/** What Node makes of the source stays apart from what it makes of the source as it is: neither has to be made anew. */
const compiled = fileURLToPath(new URL('../node_modules/.cache/rewritten', import.meta.url))

/** The settings under which a process of the service loads its source rewritten, beside what they rewrite already. */
export function rewriting(rewrites: readonly Rewrite[], environment: Environment = {}): Environment {
  const earlier: Rewrite[] = JSON.parse(environment.PLANTED_BUG ?? '[]')
  return {
    ...environment,
    NODE_OPTIONS: `--import=${plant}`,
    NODE_COMPILE_CACHE: compiled,
    PLANTED_BUG: JSON.stringify([...earlier, ...rewrites]),
  }
}
