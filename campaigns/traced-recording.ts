import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../test/support/eventually.ts'
import { startService } from '../test/support/service-process.ts'
import { type Conditions, loadUntilKilled, type Recording, settingsFor } from './recording.ts'
import { readTrace, traced } from './strace.ts'

const acknowledgements = 200

/** Every write, flush and answer of the process from its very start, as the kernel saw them. */
export async function recordWithTrace({ folder, environment, random }: Conditions): Promise<Recording> {
  const data = join(folder, 'data')
  const log = join(folder, 'trace')
  mkdirSync(data, { recursive: true })
  const service = await startService(settingsFor(data, environment), { under: traced(log) })
  const groups = await loadUntilKilled(service, acknowledgements, random() * 100)
  const pid = service.process.pid ?? 0
  return { groups, earliest: 0, events: await eventually('the trace is complete', () => readTrace(log, pid, data)) }
}
