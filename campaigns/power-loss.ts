import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Caller } from '../test/support/caller.ts'
import type { TrackedGroup } from '../test/support/load.ts'
import { rawSql } from '../test/support/raw-database.ts'
import { startService } from '../test/support/service-process.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { recordWithCopies } from './copied-recording.ts'
import { assertKept, assertWhole, loss } from './kept.ts'
import { type Conditions, type Recording, settingsFor } from './recording.ts'
import { Disk } from './simulated-disk.ts'
import { canTrace } from './strace.ts'
import { recordWithTrace } from './traced-recording.ts'

const lossesOfARecording = 10
const lacks = () => (canTrace ? undefined : 'strace, which shows when a process flushes its files, is not here')

export const powerLoss: Campaign = {
  promise: 'A power loss on SQLite loses nothing that was acknowledged and leaves nothing half done.',
  unit: 'power losses',
  full: 200,
  brief: 4,
  bugs: {
    'a commit that is not flushed': {
      lacks,
      shows: loss,
      rewrites: [{ file: 'store/sqlite-connection.ts', find: 'synchronous = full', replace: 'synchronous = normal' }],
    },
    'a master key that is not flushed': {
      lacks,
      shows: /The master key file \S+ is damaged/,
      rewrites: [{ file: 'master-key.ts', find: 'flush: true', replace: 'flush: false' }],
    },
  },
  async run(attempt) {
    const scratch = mkdtempSync(join(tmpdir(), 'ugs-power-loss-'))
    try {
      const groups = await losePower(scratch, attempt)
      const how = canTrace ? '' : ' (without strace: only what was appended since a rest is lost)'
      return `${attempt.size} power losses${how}, ${groups} groups looked at afterwards, 0 lost, 0 half done`
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  },
}

async function losePower(scratch: string, { size, random, environment, progress }: Attempt): Promise<number> {
  const record = canTrace ? recordWithTrace : recordWithCopies
  let recording: Recording | undefined
  let groups = 0
  for (let losses = 0; losses < size; losses++) {
    if (losses % lossesOfARecording === 0) recording = undefined
    recording ??= await record({ folder: join(scratch, `recording-${losses}`), environment, random })
    const conditions = { folder: join(scratch, `loss-${losses}`), environment, random }
    // Nothing that was not flushed survives, or some of it, or everything.
    groups += await assertSurvived(recording, conditions, [0, random(), 0, 1][losses % 4] ?? 0)
    progress(losses + 1)
  }
  return groups
}

/** Lets the power fail at some moment, starts the service on what is left, and compares it with what had been answered. */
async function assertSurvived({ events, earliest, groups }: Recording, conditions: Conditions, share: number) {
  const { folder, environment, random } = conditions
  const moment = earliest + Math.floor(random() * (events.length - earliest + 1))
  const disk = new Disk()
  const answered = new Set<string>()
  for (const event of events.slice(0, moment)) {
    if (event.does === 'send') for (const [token] of event.bytes.toString().matchAll(/ugt_\w+/g)) answered.add(token)
    else disk.apply(event)
  }
  mkdirSync(folder)
  for (const [name, bytes] of disk.afterPowerLoss(random, share)) writeFileSync(join(folder, name), bytes)

  const settings = settingsFor(folder, environment)
  const service = await startService(settings)
  const caller = new Caller(service.url)
  try {
    assert.deepEqual(await rawSql(settings, 'pragma integrity_check'), [{ __proto__: null, integrity_check: 'ok' }])
    await assertWhole(settings)
    const known = groups.map((group) => asItWas(group, answered)).filter(({ token }) => token !== undefined)
    await Promise.all(known.map((group) => assertKept(caller, group)))
    return known.length
  } finally {
    await caller.close()
    await service.stop('SIGKILL')
    rmSync(folder, { recursive: true })
  }
}

/** The group as its owner knew it when only these tokens had been answered. */
function asItWas({ id, former, token, pending }: TrackedGroup, answered: ReadonlySet<string>): TrackedGroup {
  const tokens = token === undefined ? former : [...former, token]
  const known = tokens.filter((each) => answered.has(each))
  return { id, token: known.at(-1), former: known.slice(0, -1), pending: pending || known.length < tokens.length }
}
