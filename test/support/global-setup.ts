import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createPostgres, type PostgresServer } from './postgres-server.ts'

let server: PostgresServer | undefined

/**
 * One PostgreSQL for the whole run; every test makes a database of its own in it. Beside it lies a copy of its files for
 * the tests that need a server of their own.
 */
export async function globalSetup(): Promise<void> {
  // Whoever makes a server crash has one of their own: this one need not wait for the disk.
  server = await createPostgres({ fsync: 'off', full_page_writes: 'off' })
  const unused = join(dirname(server.data), 'unused')
  cpSync(server.data, unused, { recursive: true })
  await server.start()
  process.env.TEST_POSTGRES_URL = server.url
  process.env.TEST_POSTGRES_UNUSED = unused
}

export async function globalTeardown(): Promise<void> {
  await server?.remove()
}
