import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onPostgres } from './postgres-client.ts'

/** The settings that name a new, empty database and its master key. */
export interface FreshDatabase {
  environment: { DATABASE_URL: string; UGS_MASTER_KEY: string }
  /** Where its files are, when this test may read them. */
  folder: string | undefined
  remove(): Promise<void>
}

export interface Engine {
  name: 'SQLite' | 'PostgreSQL'
  freshDatabase(): Promise<FreshDatabase>
}

export function newMasterKey(): string {
  return randomBytes(32).toString('base64')
}

const sqlite: Engine = {
  name: 'SQLite',
  async freshDatabase() {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-sqlite-'))
    return {
      environment: { DATABASE_URL: `sqlite:${join(folder, 'test.db')}`, UGS_MASTER_KEY: newMasterKey() },
      folder,
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}

const postgres: Engine = {
  name: 'PostgreSQL',
  async freshDatabase() {
    const server = process.env.TEST_POSTGRES_URL
    if (server === undefined) throw new Error('Run the tests with "npm test": it starts the PostgreSQL they need.')
    const name = `test_${randomBytes(6).toString('hex')}`
    await onServer(server, `create database ${name}`)
    const url = new URL(server)
    url.pathname = name
    return {
      environment: { DATABASE_URL: url.href, UGS_MASTER_KEY: newMasterKey() },
      folder: undefined,
      remove: () => onServer(server, `drop database ${name} with (force)`),
    }
  },
}

export const engines: readonly Engine[] = [sqlite, postgres]

async function onServer(url: string, statement: string): Promise<void> {
  await onPostgres(url, (client) => client.query(statement))
}
