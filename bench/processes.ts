import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100

/** In which a server is up, or down again. */
const patienceMilliseconds = 60_000

/** A server under measurement: where it listens, and the processes whose CPU time counts. */
export interface Server {
  url: string
  /** What else `ready` found. */
  detail: string
  pid: number
  stop(): Promise<void>
}

/** Starts a program and waits until `ready` finds its address in what it prints. */
export async function start(
  command: string,
  args: readonly string[],
  environment: Record<string, string>,
  ready: RegExp,
): Promise<Server> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [, url = '', detail = ''] = await firstMatch(child, ready)
  return {
    url,
    detail,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      const tooLong = setTimeout(() => child.kill('SIGKILL'), patienceMilliseconds)
      await exit
      clearTimeout(tooLong)
    },
  }
}

function firstMatch(child: ChildProcess, ready: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let text = ''
    const tooLong = setTimeout(() => child.kill('SIGKILL'), patienceMilliseconds)
    const read = (chunk: Buffer) => {
      text += chunk
      const found = ready.exec(text)
      if (!found) return
      clearTimeout(tooLong)
      resolve(found)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.once('exit', (code, signal) => {
      clearTimeout(tooLong)
      reject(new Error(`it ended with ${code ?? signal}: ${text}`))
    })
  })
}

/** User and system time, in microseconds, of a family. */
export function cpuMicroseconds(pid: number): number {
  return family(pid).reduce((sum, member) => sum + ticks(member), 0) * (1e6 / ticksPerSecond)
}

/** Resident memory of a family, in MB. */
export function residentMegabytes(pid: number): number {
  const kilobytes = family(pid).reduce((sum, member) => {
    return sum + Number(/Rss:\s+(\d+)/.exec(read(`/proc/${member}/smaps_rollup`))?.[1] ?? 0)
  }, 0)
  return Math.round(kilobytes / 1024)
}

/** A process and all its descendants. */
export function family(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const fields = afterName(read(`/proc/${entry}/stat`))
    parents.set(Number(entry), Number(fields[1]))
  }
  const members = [pid]
  for (const member of members) for (const [child, parent] of parents) if (parent === member) members.push(child)
  return members
}

/** Its own, and those of its children that are no more: what a family has used never gets less. */
function ticks(pid: number): number {
  const fields = afterName(read(`/proc/${pid}/stat`)).slice(11, 15)
  return fields.reduce((sum, field) => sum + Number(field), 0)
}

/** The name of a process may hold anything; what follows its closing bracket is numbers. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
