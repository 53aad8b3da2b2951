import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { onPostgres } from '../test/support/postgres-client.ts'
import { createPostgres, type PostgresServer } from '../test/support/postgres-server.ts'
import { groupId, groupToken } from './names.ts'
import { type Server, start } from './processes.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const ugs = here('../bin/ugs.mjs')
const listening = /[Ll]istening on +(http\S+)/

export const apiToken = 'uga_bench_0123456789abcdefghijklmnopqr'

export function startBare(workers = 1): Promise<Server> {
  return start(process.execPath, [here('bare-server.ts')], { WORKERS: String(workers) }, listening)
}

export const peers = ['oidc-provider', 'pocketbase', 'better-auth'] as const

/** A peer keeps its files in `FOLDER`, and prints where it listens and the request it is to be asked. */
export async function startPeer(name: (typeof peers)[number]): Promise<Server & { request: string }> {
  const ready = /listening on (http\S+)\nrequest (".*")\n/
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  return orRemoved(remove, async () => {
    const program = ['--no-warnings', here(`peers/${name}.ts`)]
    const server = await start(process.execPath, program, { FOLDER: folder }, ready)
    return { ...server, stop: () => server.stop().then(remove), request: JSON.parse(server.detail) }
  })
}

async function orRemoved<T>(remove: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await remove()
    throw error
  }
}

export interface Filled {
  /** Groups a second while it was filled. */
  fillSpeed: number
  /** Of its first process, where it has processes of its own. */
  pid?: number
  settings?: Record<string, string>
  serve(workers: number): Promise<Server>
  remove(): Promise<void>
}

export async function fillSqlite(groups: number): Promise<Filled> {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  const environment = settings(`sqlite:${join(folder, 'bench.db')}`)
  return orRemoved(remove, async () => ({
    fillSpeed: await fill(environment, groups),
    serve: (workers) => startService(environment, workers),
    remove,
  }))
}

export const postgresSettings = { shared_buffers: '512MB', max_wal_size: '4GB' }

export async function fillPostgres(groups: number): Promise<Filled> {
  const server = await createPostgres(postgresSettings)
  const environment = settings(server.url)
  return orRemoved(server.remove, async () => {
    await server.start()
    return {
      fillSpeed: await fill(environment, groups),
      pid: Number(readFileSync(join(server.data, 'postmaster.pid'), 'utf8').split('\n')[0]),
      settings: await settingsOf(server),
      serve: (workers) => startService(environment, workers),
      remove: server.remove,
    }
  })
}

/** Those that tell what its figures are worth. */
function settingsOf({ url }: PostgresServer): Promise<Record<string, string>> {
  const names = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', ...Object.keys(postgresSettings)]
  return onPostgres(url, async (client) => {
    const { rows } = await client.query('select name, current_setting(name) as value from unnest($1::text[]) as name', [
      names,
    ])
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
  })
}

function settings(url: string): Record<string, string> {
  return { DATABASE_URL: url, UGS_MASTER_KEY: randomBytes(32).toString('base64'), UGS_API_TOKEN: apiToken }
}

function startService(environment: Record<string, string>, workers: number): Promise<Server> {
  const own = { PORT: '0', UGS_LOG_LEVEL: 'warn', UGS_WORKERS: String(workers) }
  return start(process.execPath, [ugs, 'serve'], { ...environment, ...own }, listening)
}

/** Fills by the bulk import, as an operator would who moves here. */
async function fill(environment: Record<string, string>, groups: number): Promise<number> {
  const first = await startService(environment, 1)
  await first.stop()
  const began = performance.now()
  const child = spawn(process.execPath, [ugs, 'user-group', 'import', '-', '--format', 'jsonl'], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['pipe', 'ignore', 'inherit'],
    timeout: 60_000 + groups,
  })
  Readable.from(lines(groups)).pipe(child.stdin)
  const [code, signal] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the import ended with ${code ?? signal}`)
  return Math.round((groups / (performance.now() - began)) * 1000)
}

function* lines(groups: number): Generator<string> {
  const batch = 1_000
  for (let at = 0; at < groups; at += batch) {
    let text = ''
    for (let index = at; index < Math.min(at + batch, groups); index++)
      text += `${JSON.stringify({ user_group_id: groupId(index), token: groupToken(index), properties: { region: 'eu' } })}\n`
    yield text
  }
}
