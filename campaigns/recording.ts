import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Caller } from '../test/support/caller.ts'
import { eventually } from '../test/support/eventually.ts'
import { Load, type TrackedGroup } from '../test/support/load.ts'
import type { Environment, ServiceProcess } from '../test/support/service-process.ts'
import type { DiskEvent } from './simulated-disk.ts'

/** What a service on SQLite wrote and answered under load, and what its callers know of it. */
export interface Recording {
  events: DiskEvent[]
  /** How many of the events have happened at the earliest moment the power can fail. */
  earliest: number
  groups: TrackedGroup[]
}

export interface Conditions {
  /** For the database and the key, and whatever else is made. */
  folder: string
  environment: Environment
  random: () => number
}

/** The database and its key in a folder of their own. */
export function settingsFor(folder: string, environment: Environment): Environment {
  return { ...environment, DATABASE_URL: `sqlite:${join(folder, 'user-groups.db')}` }
}

/** Kills it in the middle of its writes, after so many acknowledgements and a moment more. */
export async function loadUntilKilled(service: ServiceProcess, acknowledgements: number, moment: number) {
  const caller = new Caller(service.url)
  const load = new Load(caller, 'group')
  try {
    await eventually('the load runs', () => load.acknowledged > acknowledgements)
    await pause(moment)
  } finally {
    await service.stop('SIGKILL')
  }
  await load.end()
  await caller.close()
  return load.groups
}
