import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { type Environment, onFullDisk, spawnUgs, spawnUnder } from './service-process.ts'

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface Command {
  process: ChildProcess
  ended: Promise<Ended>
}

const patience = 60_000

/** A `ugs` command under way, which a test may kill; one that never ends is killed after a minute. */
export function startCommand(environment: Environment, ...args: string[]): Command {
  return startReading('', environment, ...args)
}

/** The same with something to read on its standard input. */
export function startReading(input: string, environment: Environment, ...args: string[]): Command {
  return reading(input, spawnUgs(environment, ...args))
}

/** One with nowhere to put its output. */
export function startOnFullDisk(environment: Environment, ...args: string[]): Command {
  return startUnder(onFullDisk, environment, ...args)
}

/** One that another command runs. */
export function startUnder(under: readonly string[], environment: Environment, ...args: string[]): Command {
  return reading('', spawnUnder(under, environment, ...args))
}

function reading(input: string, child: ChildProcessWithoutNullStreams): Command {
  const impatience = setTimeout(() => child.kill('SIGKILL'), patience)
  // A command that does not read it closes the pipe.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const ended = Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close').finally(() => clearTimeout(impatience)),
  ]).then(([stdout, stderr, [code]]) => ({ code, stdout: stdout.join(''), stderr: stderr.join('') }))
  return { process: child, ended }
}

/** Runs a `ugs` command to its end. */
export function runCommand(environment: Environment, ...args: string[]): Promise<Ended> {
  return startCommand(environment, ...args).ended
}
