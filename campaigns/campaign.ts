import type { Engine } from '../test/support/engines.ts'
import type { Environment } from '../test/support/service-process.ts'

/** A promise of the service, and an attempt to break it that anyone can repeat. */
export interface Campaign {
  promise: string
  /** What its size counts, in the plural: "rounds on each engine". */
  unit: string
  /** The size of the published result, and the one that is part of `npm test`: a few seconds. */
  full: number
  brief: number
  /** With less of it there is nothing to prove. */
  least?: number
  /** What this machine would need for it and has not, if anything: it is then left out, and proves nothing. */
  lacks?(): string | undefined
  /** Faults planted in the service on purpose. The campaign must find each: one that cannot fail proves nothing. */
  bugs: Record<string, Bug>
  /** Resolves with the figure; throws when the promise is broken. */
  run(attempt: Attempt): Promise<string>
}

export interface Attempt {
  size: number
  /** From 0 up to 1, the same for the same seed. */
  random: () => number
  /** Where to try: on both, unless the planted bug is looked for on one. */
  engines: readonly Engine[]
  /** For every process of the service: it carries the planted bug, if there is one. */
  environment: Environment
  /** How many of `size` are done, and what there is to say of them. */
  progress(done: number, note?: string): void
}

export interface Bug {
  /** As for a campaign, where the fault shows only with some of what that needs. */
  lacks?(): string | undefined
  /** The engine on which alone it shows, or one that is enough, where it has nothing to do with engines. */
  on?: Engine['name']
  /** Of the service's source as a process loads it; the files stay as they are. */
  rewrites: readonly Rewrite[]
  /** In what the campaign then says: it must fail for this reason, not for any. */
  shows: RegExp
}

export interface Rewrite {
  /** Below src/, such as "memory.ts". */
  file: string
  /** Occurs in the file exactly once: a bug that no longer fits the code is an error. */
  find: string
  replace: string
}
