import { attempt } from './attempt.ts'
import type { Call, CallOptions, Request } from './call.ts'
import type { Connection } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import type { Outcome } from './outcome.ts'
import { pause, waitBefore } from './pause.ts'
import { prepare } from './prepare.ts'

const mixedUp =
  'The answer is not about what was asked for; a cache or proxy between here and the service mixes answers up.'

/** Sends a call until it is answered, as often as the settings allow and only where repeating is safe. */
export async function send<Answer>(
  connection: Connection,
  call: Call<Answer>,
  options: CallOptions = {},
): Promise<Answer> {
  const signal = options.signal ?? undefined
  const request = prepare(connection, call)
  let mayBeDone = false
  for (let repetition = 0; ; repetition += 1) {
    const outcome = await attempt(connection, request, signal)
    if (outcome.kind === 'done') return checked(outcome, call)
    if (outcome.kind === 'lost' || outcome.kind === 'unavailable') mayBeDone = true
    const { kind, error } = outcome
    const isLast = kind === 'failed' || call.neverAfter?.includes(kind) || repetition === connection.retries
    if (isLast || asksForTooLong(error, connection)) return afterAll(error, call, mayBeDone)
    await pause(waitBefore(repetition, error.retryAfter), signal)
  }
}

/** Nobody is kept waiting for longer than an answer may take; and to ask sooner than told to would be no help. */
function asksForTooLong({ retryAfter = 0 }: UserGroupServiceError, { timeoutMs }: Connection): boolean {
  return retryAfter * 1000 > timeoutMs
}

function checked<Answer>(outcome: Extract<Outcome, { kind: 'done' }>, call: Call<Answer>): Answer {
  const answer = outcome.answer as Answer
  if (call.isAnswer?.(answer) ?? true) return answer
  const { status, requestId } = outcome
  throw advised(new UserGroupServiceError('unexpected_answer', mixedUp, { status, requestId }), call)
}

/** The answer all the same, if it is sure that an attempt whose answer was lost has done it. */
async function afterAll<Answer>(error: UserGroupServiceError, call: Call<Answer>, mayBeDone: boolean): Promise<Answer> {
  if (!mayBeDone) throw advised(error, call)
  const answer = await call.wasDone?.(error).catch(notFoundOut)
  if (answer !== undefined) return answer
  if (call.advice === undefined) throw error
  const { status, requestId, retryAfter } = error
  const message = `Nobody knows whether it was done. ${call.advice}`
  throw new UserGroupServiceError('answer_lost', message, { status, requestId, retryAfter, cause: error })
}

/** Only the caller's signal ends the search with anything else. */
function notFoundOut(error: unknown): undefined {
  if (!(error instanceof UserGroupServiceError)) throw error
}

/** Whoever answered in its place, the service may have done it; not with 429, which lets nothing through. */
function advised(error: UserGroupServiceError, { advice }: Request): UserGroupServiceError {
  if (advice === undefined || error.code !== 'unexpected_answer' || error.status === 429) return error
  return new UserGroupServiceError(error.code, `${error.message} ${advice}`, error)
}
