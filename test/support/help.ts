import assert from 'node:assert/strict'
import { runCommand } from './command.ts'

export interface Help {
  /** The words behind `ugs`. */
  path: string[]
  text: string
  /** Only holds others, and does nothing itself. */
  isGroup: boolean
}

/** Every command there is, found as a newcomer finds it: from one --help to the next. */
export async function exploreHelp(...path: string[]): Promise<Help[]> {
  const help = await runCommand({}, ...path, '--help')
  assert.equal(help.code, 0, `ugs ${path.join(' ')} --help`)
  assert.equal(help.stderr, '')
  const commands = (help.stdout.split('\nCommands:\n')[1] ?? '').matchAll(/^ {2}([a-z][\w-]*)/gm)
  const below = [...commands].map(([, name = '']) => name).filter((name) => name !== 'help')
  const inner = await Promise.all(below.map((name) => exploreHelp(...path, name)))
  return [{ path, text: help.stdout, isGroup: below.length > 0 }, ...inner.flat()]
}
