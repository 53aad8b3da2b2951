import { createPostgres, type PostgresServer } from './postgres-server.ts'

let server: PostgresServer | undefined

/** One PostgreSQL for the whole run; every test makes a database of its own in it. */
export async function globalSetup(): Promise<void> {
  server = await createPostgres()
  await server.start()
  process.env.TEST_POSTGRES_URL = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.remove()
}
