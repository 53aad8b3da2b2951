import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Engine } from '../test/support/engines.ts'

export const folder = fileURLToPath(new URL('fixtures/', import.meta.url))

/** A database as an earlier version left it, and what that version said of it. */
export interface Fixture {
  /** How many migrations had run. */
  version: number
  /** SQL that makes the database. */
  dump: string
  record: FixtureRecord
}

export interface FixtureRecord {
  masterKey: string
  /** Each of a team of its own. */
  apiTokens: string[]
  exchanges: Exchange[]
  /** Of the first team. */
  groups: { id: string; token: string; former: string[] }[]
  /** The number of the first team's last event. */
  lastEvent: number
}

/** A question that changes nothing, and its answer. */
export interface Exchange {
  /** The place of the caller's API token among those of the record. */
  caller: number
  method: string
  path: string
  json?: unknown
  status: number
  body: unknown
}

/** Where the fixture of a version and an engine is kept: the database and the record. */
export function fixtureFiles(version: number, engine: Engine): { dump: string; record: string } {
  const name = `${folder}${String(version).padStart(3, '0')}-${engine.name.toLowerCase()}`
  return { dump: `${name}.sql`, record: `${name}.json` }
}

/** The number of migrations there are: each is a file. */
export function currentVersion(): number {
  return globSync(fileURLToPath(new URL('../src/store/migrations/[0-9]*.ts', import.meta.url))).length
}

export function readFixture(version: number, engine: Engine): Fixture {
  const { dump, record } = fixtureFiles(version, engine)
  return { version, dump: readFileSync(dump, 'utf8'), record: JSON.parse(readFileSync(record, 'utf8')) }
}
