import type { Campaign } from './campaign.ts'
import { LimitedService } from './clock-limits.ts'
import { endByTheClock } from './end-by-the-clock.ts'
import { hasLibfaketime } from './jumping-clock.ts'
import { onBothEngines } from './on-both-engines.ts'
import { TwoClocks } from './two-clocks.ts'

const hours = 3_600

export const clock: Campaign = {
  promise:
    'Clocks that jump by up to a day, and processes whose clocks are a day apart, do no harm beyond the times that are shown: every end holds by the clock of who asks.',
  unit: 'jumps on each engine',
  full: 1_000,
  brief: 20,
  bugs: {
    'ids from the bare clock': {
      shows: /is listed before/,
      rewrites: [{ file: 'ids.ts', find: 'Math.max(last + 1,', replace: 'Math.max(0,' }],
    },
    'a limit that waits until the old time has come': {
      shows: /a caller is let in after a jump/,
      rewrites: [{ file: 'http/rate-limits.ts', find: 'Math.max(0, now - bucket.at)', replace: '(now - bucket.at)' }],
    },
    'a rotated token that ends by the clock': {
      shows: /was rotated, and still verifies/,
      rewrites: endByTheClock,
    },
  },
  async run({ size, random, engines, environment, progress }) {
    const anyOffset = () => (Math.floor(random() * 9) - 4) * 6 * hours
    const made = await onBothEngines({ engines, environment }, async (premises, engine) => {
      const clocks = await TwoClocks.start(premises, environment)
      // Locks of the database are SQLite's, and limits know nothing of a database.
      const limited = engine.name === 'SQLite' ? await LimitedService.start(premises, environment) : undefined
      for (let jump = 1; jump <= size; jump++) {
        await clocks.jump(anyOffset())
        if (jump % 10 === 0) await clocks.jumpDuringList(anyOffset())
        if (jump % 10 === 5 && limited) await Promise.all([clocks.jumpDuringLock(), limited.jump()])
        if (jump % 100 === 0) await clocks.restartOne()
        progress(jump, engine.name)
      }
      return clocks.end()
    })
    const groups = made.reduce((a, b) => a + b)
    const how = hasLibfaketime
      ? 'one clock of two by libfaketime'
      : 'all clocks within Node, as libfaketime is not installed'
    return `${size} jumps by up to two days on each engine, ${groups} groups made meanwhile; 0 requests failed, 0 ends missed, 0 callers locked out; ${how}`
  },
}
