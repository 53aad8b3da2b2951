import type { CallOptions } from './call.ts'
import type { Connection } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { send } from './send.ts'
import type { RotateRequest, UserGroup, UserGroupRecord, UserGroupRotateTokenAnswer } from './types.ts'

export interface RotateOptions extends CallOptions, Pick<RotateRequest, 'grace_seconds'> {
  /** The group's id, if you have it: with it a lost answer is recovered, and an answer about another group refused. */
  provided_id?: string | undefined
}

/** How the group is found again. */
export interface LookUp {
  record(providedId: string): Promise<{ user_group: UserGroupRecord }>
  group(providedId: string): Promise<{ user_group: UserGroup }>
}

const advice = 'The token may have been rotated: look the user group up with getOrCreate for its current one.'
const adviceWithoutId = `${advice} When provided_id is passed to rotate, it does so itself.`

const wrongId = {
  message:
    "provided_id is not the id of this token's user group (was it renamed?), and the token was rotated all the same: " +
    'look the user group up with getOrCreate by its own id. ' +
    'Or a cache or proxy between here and the service mixes answers up.',
  field: 'provided_id',
}

const anotherToken = `The answer was lost, and provided_id is another group's, or the token was replaced before. ${advice}`

const noSuchGroup =
  'The answer was lost, and no user group has this provided_id (was it renamed, or deleted?). ' +
  'The token may have been rotated: look its user group up by the right id.'

/** Milliseconds by which the clocks here and there may differ. */
const clockDifference = 5 * 60_000

/** What is looked for when the answer is lost: the group whose token was replaced since then. */
interface Search {
  lookUp: LookUp
  currentToken: string
  since: number
}

/** A token rotates once, so that a second call with it cannot give what the first one gave: the group is looked up. */
export async function rotate(
  connection: Connection,
  lookUp: LookUp,
  currentToken: string,
  { grace_seconds, provided_id, signal }: RotateOptions,
): Promise<UserGroupRotateTokenAnswer> {
  const search = { lookUp, currentToken, since: Date.now() - clockDifference }
  let wasLost = false
  for (let repetition = 0; ; repetition += 1) {
    try {
      return await send<UserGroupRotateTokenAnswer>(
        connection,
        {
          method: 'POST',
          path: '/api/user',
          body: { current_token: currentToken, grace_seconds },
          // The second one does no harm where the first was done.
          onlyOnce: { advice: provided_id === undefined ? adviceWithoutId : advice, evenAfter503: false },
          isAnswer: ({ user_group }) =>
            typeof user_group?.token === 'string' &&
            (provided_id === undefined || user_group.provided_id === provided_id),
          mismatch: provided_id === undefined ? undefined : wrongId,
          wasDone: (error) =>
            provided_id !== undefined && error.code === 'token_already_rotated'
              ? found(provided_id, search, error)
              : undefined,
        },
        { signal },
      )
    } catch (error) {
      const isLost = has(error, 'answer_lost')
      // The first call may have been slow instead of lost, and overtaken by the look-up.
      const isLate = wasLost && has(error, 'token_already_rotated')
      if (provided_id === undefined || !(isLost || isLate)) throw error
      wasLost = true
      const answer = await found(provided_id, search, error)
      if (answer) return answer
      if (repetition === connection.retries) throw error
    }
  }
}

/** The group with its new token; undefined when it still has the old one. */
async function found(
  providedId: string,
  { lookUp, currentToken, since }: Search,
  lost: UserGroupServiceError,
): Promise<UserGroupRotateTokenAnswer | undefined> {
  const wasRotated = async () => {
    const { user_group } = await lookUp.record(providedId).catch(stillLost(lost))
    return user_group.token_rotated_at !== null && Date.parse(user_group.token_rotated_at) >= since
  }
  // First without getting the token: getOrCreate alone would create a group that was deleted, or never was.
  const wasRotatedBefore = await wasRotated()
  const { user_group: group } = await lookUp.group(providedId).catch(stillLost(lost))
  if (group.token === currentToken) return undefined
  // Asked again, for it may have happened between the two looks.
  if (wasRotatedBefore || (await wasRotated())) return { success: 1, user_group: group }
  throw new UserGroupServiceError('answer_lost', anotherToken, { field: 'provided_id', cause: lost })
}

/** Whatever keeps the group from being found, the rotation may have happened. */
function stillLost(lost: UserGroupServiceError) {
  return (error: unknown): never => {
    if (!(error instanceof UserGroupServiceError)) throw error
    if (has(error, 'user_group_not_found'))
      throw new UserGroupServiceError('answer_lost', noSuchGroup, { field: 'provided_id', cause: error })
    throw new UserGroupServiceError('answer_lost', lost.message, { cause: error })
  }
}

function has(error: unknown, code: UserGroupServiceError['code']): error is UserGroupServiceError {
  return error instanceof UserGroupServiceError && error.code === code
}
