import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { quickStart } from './quick-start.ts'
import type { Environment } from './service-process.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Command {
  process: ChildProcess
  ended: Promise<Ended>
}

/** A `ugs` command under way, which a test may kill; one that never ends is killed after a minute. */
export function startCommand(environment: Environment, ...args: string[]): Command {
  return startReading('', environment, ...args)
}

/** The same with something to read on its standard input. */
export function startReading(input: string, environment: Environment, ...args: string[]): Command {
  const { PATH, HOME, TMPDIR, LANG } = process.env
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH, HOME, TMPDIR, LANG, ...quickStart, ...environment },
    timeout: 60_000,
    killSignal: 'SIGKILL',
  })
  // A command that does not read it closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ]).then(([stdout, stderr, [code]]) => ({ code, stdout: stdout.join(''), stderr: stderr.join('') }))
  return { process: child, ended }
}

/** Runs a `ugs` command to its end. */
export function runCommand(environment: Environment, ...args: string[]): Promise<Ended> {
  return startCommand(environment, ...args).ended
}
