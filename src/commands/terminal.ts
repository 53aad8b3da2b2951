import { isoTimeOrNull } from '../clock.ts'
import { type ErrorCode, ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { postgresRemedyFor } from '../store/postgres-remedies.ts'
import { remedyFor } from '../store/sqlite-errors.ts'
import { withoutTokens } from '../tokens/format.ts'
import { visible } from './visible.ts'

let isWatched = false

export function print(text: string): void {
  if (!isWatched) process.stdout.on('error', endWithoutOutput)
  isWatched = true
  process.stdout.write(`${text}\n`)
}

/** Whoever reads it may have seen enough and hang up, as head does; or there is no room for it. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit()
  const remedy = 'The command has done its work. Make room where its output goes.'
  say(explain(new OperatorError(`The output cannot be written: ${error.message}.`, remedy, error)))
  process.exit(1)
}

export function printJson(value: unknown): void {
  print(visible(JSON.stringify(value, null, 2)))
}

/** One thing with its fields, a line each. */
export function printRecord(record: object, json: boolean | undefined): void {
  const fields = Object.entries(record)
  const width = Math.max(...fields.map(([name]) => name.length))
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  if (json) printJson(record)
  else for (const [name, value] of fields) print(`${name.padEnd(width)}  ${visible(shown(value))}`)
}

/** For people, beside the output proper. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Colour only where somebody looks. */
function red(text: string): string {
  return process.stderr.isTTY && !process.env.NO_COLOR ? `\x1b[31m${text}\x1b[0m` : text
}

export function when(time: number | null): string {
  return isoTimeOrNull(time) ?? '-'
}

/** What to do about a refusal, where its own sentence does not say it. */
const remedies: Partial<Record<ErrorCode, string>> = {
  user_group_not_found: 'Check the id, and --team; list them with: ugs user-group list',
  token_not_found: 'Check that the token is whole, and --team.',
  token_already_rotated: 'The current one comes with GET /api/user.',
  not_found: 'Check the id, and --team.',
  conflict: 'Nothing was changed.',
  invalid_request: 'Correct it and run the command again; nothing was changed.',
  unknown_data_source: 'Check the id, and --team; list them with: ugs data-source list',
}

/** One sentence and a remedy. A token that was given where none belongs is not repeated. */
export function explain(error: unknown): string {
  const { sentence, remedy } = explanation(error)
  return `${red('ugs:')} ${visible(sentence)}\n  ${remedy}`
}

export function explanation(error: unknown, lastResort = 'Run ugs doctor.'): { sentence: string; remedy: string } {
  const [sentence, remedy] = sentenceAndRemedy(error, lastResort)
  return { sentence: withoutTokens(sentence), remedy: withoutTokens(remedy) }
}

function sentenceAndRemedy(error: unknown, lastResort: string): [sentence: string, remedy: string] {
  if (error instanceof OperatorError) return [error.message, error.remedy]
  if (error instanceof ServiceError && error.code === 'unavailable') {
    const reason = (error.cause as Error | undefined)?.message ?? error.message
    const remedy = remedyFor(error.cause) ?? postgresRemedyFor(error.cause)
    if (remedy !== undefined) return [`The database refuses: ${reason}.`, remedy]
    return [`The database does not answer: ${reason}.`, lastResort]
  }
  const remedy = error instanceof ServiceError ? remedies[error.code] : undefined
  if (remedy !== undefined) return [(error as Error).message.replace(/[^.]$/, '$&.'), remedy]
  return [
    error instanceof Error ? error.message : String(error),
    'This is a bug: please report it with the command you ran.',
  ]
}
