import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load } from '../test/support/load.ts'
import { startService } from '../test/support/service-process.ts'
import { type Conditions, loadUntilKilled, type Recording, settingsFor } from './recording.ts'
import { type DiskEvent, theFolder } from './simulated-disk.ts'

// So few that SQLite does not yet carry them over from its log into the database.
const acknowledgements = 20

/**
 * Where nobody can watch the process: what was in the files when all was at rest is taken for flushed, and what was
 * appended to SQLite's log from then until the kill is not.
 */
export async function recordWithCopies({ folder, environment }: Conditions): Promise<Recording> {
  mkdirSync(folder, { recursive: true })
  const service = await startService(settingsFor(folder, environment))
  const caller = new Caller(service.url)
  const load = new Load(caller, 'early group')
  await eventually('the load runs', () => load.acknowledged > acknowledgements)
  await load.end()
  await caller.close()
  const atRest = filesIn(folder)
  const acknowledged = load.groups.flatMap(({ former, token }) => [...former, token])
  const later = await loadUntilKilled(service, acknowledgements, 0)
  const flushed = [...atRest].flatMap(([file, bytes]): DiskEvent[] => [
    { does: 'create', file },
    { does: 'write', file, at: 0, bytes },
    { does: 'flush', file },
  ])
  const events: DiskEvent[] = [
    ...flushed,
    { does: 'flush', file: theFolder },
    { does: 'send', bytes: Buffer.from(acknowledged.join(' ')) },
  ]
  return {
    groups: [...load.groups, ...later],
    earliest: events.length,
    events: [...events, ...appended(atRest, filesIn(folder))],
  }
}

/** Without the memory that processes share: it does not outlive the machine. */
function filesIn(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder).filter((name) => !name.endsWith('-shm'))
  return new Map(names.map((name) => [name, readFileSync(join(folder, name))]))
}

function appended(before: ReadonlyMap<string, Buffer>, after: ReadonlyMap<string, Buffer>): DiskEvent[] {
  return [...after].flatMap(([file, bytes]) => {
    const { length } = before.get(file) ?? assert.fail(`${file} is new`)
    assert.ok(before.get(file)?.equals(bytes.subarray(0, length)), `${file} was written anew, not only appended to`)
    return bytes.length > length ? [{ does: 'write', file, at: length, bytes: bytes.subarray(length) }] : []
  })
}
