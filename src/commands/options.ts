import { type Command, InvalidArgumentError } from 'commander'
import { isText } from '../http/fields.ts'
import { parseJson } from '../json.ts'

export interface TeamOptions {
  team: number
  json?: boolean
}

/** The two options that nearly every command has. */
export function withTeam(command: Command, json: string): Command {
  return command.option('--team <id>', 'the team', parseId, 1).option('--json', json)
}

export function example(...lines: string[]): string {
  return `\nExample:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

export function parseId(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('An id is a positive whole number.')
  return Number(text)
}

export function parseName(text: string): string {
  if (!isText(text))
    throw new InvalidArgumentError('A name or id is 1 to 255 characters without control characters or lone surrogates.')
  return text
}

/** How many: of seconds, or of things to list. */
export function parseCount(text: string): number {
  if (!/^(0|[1-9]\d{0,14})$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

export function parseLimit(text: string): number {
  const limit = parseCount(text)
  if (limit === 0) throw new InvalidArgumentError('Write a whole number from 1.')
  return limit
}

export function parseSwitch(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Write on or off.')
  return text === 'on'
}

/** As a body is read over HTTP: no number is rounded in silence. */
export function parseJsonOption(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new InvalidArgumentError('Write one JSON object, in quotes for the shell: \'{"sales":"acme-db"}\'.')
  }
}

/** Refuses an update without a change, as a wrong use of the command. */
export function requireChange(command: Command, change: object, options: string): void {
  if (Object.keys(change).length === 0) command.error(`error: say what to change: ${options}`)
}
