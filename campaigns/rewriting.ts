import { fileURLToPath } from 'node:url'
import type { Environment } from '../test/support/service-process.ts'
import type { Rewrite } from './campaign.ts'

const plant = fileURLToPath(new URL('plant.ts', import.meta.url))

/** The settings under which a process of the service loads its source rewritten, beside what they rewrite already. */
export function rewriting(rewrites: readonly Rewrite[], environment: Environment = {}): Environment {
  const earlier: Rewrite[] = JSON.parse(environment.PLANTED_BUG ?? '[]')
  return {
    ...environment,
    NODE_OPTIONS: `--import=${plant}`,
    PLANTED_BUG: JSON.stringify([...earlier, ...rewrites]),
  }
}
