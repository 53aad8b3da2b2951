import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dumpDatabase, restoreDump } from '../test/support/plain-dump.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment } from '../test/support/service-process.ts'

/** A way to back a PostgreSQL database up. */
export interface Dumps {
  inWords: string
  make(from: Environment): Promise<Buffer>
  restore(dump: Buffer, to: Environment): Promise<void>
}

/** The server's own tools, as docs/operating.md says, where they are installed and not older than the server. */
export async function postgresDumps(environment: Environment): Promise<Dumps> {
  const [server] = await rawSql(environment, "select current_setting('server_version_num')::int / 10000 as major")
  const installed = await pipe('pg_dump', ['--version']).catch(() => undefined)
  const version = /(\d+)/.exec(String(installed))?.[1]
  if (version !== undefined && Number(version) >= Number(server?.major))
    return { ...serversTools, inWords: `with pg_dump ${version}` }
  const because =
    version === undefined ? 'pg_dump is not installed' : `pg_dump ${version} is older than the server, ${server?.major}`
  return { ...ownDump, inWords: `with a dump of our own in one transaction (${because})` }
}

const serversTools = {
  make: ({ DATABASE_URL = '' }: Environment) => pipe('pg_dump', ['--format=custom', DATABASE_URL]),
  async restore(dump: Buffer, { DATABASE_URL = '' }: Environment) {
    await pipe('pg_restore', ['--no-owner', '--exit-on-error', `--dbname=${DATABASE_URL}`], dump)
  },
}

const ownDump = {
  make: async (from: Environment) => Buffer.from(await dumpDatabase(from)),
  restore: (dump: Buffer, to: Environment) => restoreDump(to, dump.toString()),
}

async function pipe(program: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn(program, args)
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [output, complaints, [code]] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  if (code !== 0) throw new Error(`${program}: ${complaints.join('')}`)
  return Buffer.concat(output)
}
