import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const thisProgram = fileURLToPath(new URL('../../bin/ugs.mjs', import.meta.url))

export const testApiToken = 'uga_test_only_0123456789abcdefghij'

export interface ServiceProcess {
  url: string
  process: ChildProcess
  /** All it has written so far. */
  output(): { stdout: string; stderr: string }
  /** Asks it to stop, and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export type Environment = Record<string, string | undefined>

/** What bin/ugs.mjs starts itself once more with, where it has not been: that takes a tenth of a start. */
export const v8Flags = ['--max-semi-space-size=8', '--heap-growing-percent=15', '--no-allocation-site-pretenuring']

export interface Started {
  /** A command that watches or confines it. */
  under?: readonly string[]
  /** Another version of it. */
  program?: string
  /** Whether it is given its V8 flags, and need not find out that it lacks them. */
  hasFlags?: boolean
}

/** Whoever ends early, because a promise is broken, leaves none behind. */
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function untilTheEnd<Child extends ChildProcess>(child: Child): Child {
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

/** The service as an operator runs it: a process of its own, on a free port. */
export async function startService(
  environment: Environment,
  { under = [], program = thisProgram, hasFlags = true }: Started = {},
): Promise<ServiceProcess> {
  const flags = hasFlags ? v8Flags : []
  const [command = '', ...args] = [...under, process.execPath, ...flags, program, 'serve']
  const child = untilTheEnd(
    spawn(command, args, {
      env: cleanEnvironment({ PORT: '0', UGS_API_TOKEN: testApiToken, ...environment }),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      const address = /Listening on +(http\S+)/.exec(stderr)?.[1]
      if (address) resolve(address)
    })
    child.once('exit', (code) => reject(new Error(`the service exited with ${code} before it listened: ${stderr}`)))
  })
  return {
    url,
    process: child,
    output: () => ({ stdout, stderr }),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exit = once(child, 'exit')
      child.kill(signal)
      const [code] = await exit
      return code
    },
  }
}

/** A `ugs` command that runs beside the test. */
export function spawnUgs(environment: Environment, ...args: string[]): ChildProcessWithoutNullStreams {
  return spawnUnder([], environment, ...args)
}

/** A command under which another has nowhere to put its output. */
export const onFullDisk = ['sh', '-c', 'exec "$0" "$@" > /dev/full']

export function spawnUnder(under: readonly string[], environment: Environment, ...args: string[]) {
  const [command = '', ...rest] = [...under, process.execPath, thisProgram, ...args]
  return untilTheEnd(spawn(command, rest, { env: cleanEnvironment(environment) }))
}

/** Runs a `ugs` command to its end. */
export function ugs(environment: Environment, ...args: string[]) {
  return ugsReading('', environment, ...args)
}

/** The same with something to read on its standard input. */
export async function ugsReading(input: string | Uint8Array, environment: Environment, ...args: string[]) {
  const child = spawnUgs(environment, ...args)
  // A command that does not read it closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return { code: code as number | null, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** None of the settings of whoever runs the tests. */
function cleanEnvironment(environment: Environment): Environment {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  return { PATH, HOME, TMPDIR, LANG, ...environment }
}
