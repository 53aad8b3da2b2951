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
  { signal }: CallOptions = {},
): Promise<Answer> {
  const request = prepare(connection, call)
  let mayBeDone = false
  for (let repetition = 0; ; repetition += 1) {
    const outcome = await attempt(connection, request, signal)
    if (outcome.kind === 'done') return checked(outcome, call)
    if (outcome.kind === 'failed') {
      const done = mayBeDone ? await call.wasDone?.(outcome.error) : undefined
      if (done !== undefined) return done
      throw advised(outcome.error, call)
    }
    const { onlyOnce } = call
    if (onlyOnce && outcome.kind === 'lost')
      throw answerLost(`The answer was lost on the way. ${onlyOnce.advice}`, outcome.error)
    if (onlyOnce?.evenAfter503 && outcome.kind === 'unavailable')
      throw answerLost(`The service was not available. ${onlyOnce.advice}`, outcome.error)
    if (outcome.kind !== 'refused') mayBeDone = true
    if (repetition === connection.retries) throw outcome.error
    await pause(waitBefore(repetition, outcome.retryAfter), signal)
  }
}

function checked<Answer>(outcome: Extract<Outcome, { kind: 'done' }>, call: Call<Answer>): Answer {
  const answer = outcome.answer as Answer
  if (call.isAnswer?.(answer) ?? true) return answer
  const { status, requestId } = outcome
  const { message, field } = call.mismatch ?? { message: mixedUp, field: undefined }
  const error = new UserGroupServiceError('unexpected_answer', message, { field, status, requestId })
  throw call.mismatch ? error : advised(error, call)
}

/** Whoever answered in its place, the service may have done it. */
function advised(error: UserGroupServiceError, { onlyOnce }: Request): UserGroupServiceError {
  if (onlyOnce === undefined || error.code !== 'unexpected_answer') return error
  return new UserGroupServiceError(error.code, `${error.message} ${onlyOnce.advice}`, error)
}

function answerLost(message: string, cause: UserGroupServiceError): UserGroupServiceError {
  return new UserGroupServiceError('answer_lost', message, { cause })
}
