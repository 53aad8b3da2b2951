import { type ErrorCode, ServiceError } from '../errors.ts'
import { OperatorError } from '../operator-error.ts'
import { postgresRemedyFor } from '../store/postgres-remedies.ts'
import { remedyFor } from '../store/sqlite-errors.ts'
import { withoutTokens } from '../tokens/format.ts'
import { visible } from './visible.ts'

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

/** Colour only where somebody looks. */
function red(text: string): string {
  return process.stderr.isTTY && !process.env.NO_COLOR ? `\x1b[31m${text}\x1b[0m` : text
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
