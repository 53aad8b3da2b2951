import type { Call, CallOptions } from './call.ts'
import type { Connection } from './connection.ts'
import { UserGroupServiceError } from './error.ts'
import { send } from './send.ts'
import type { RotateRequest, UserGroup, UserGroupRecord, UserGroupRotateTokenAnswer } from './types.ts'

export interface RotateOptions extends CallOptions, Pick<RotateRequest, 'grace_seconds'> {
  /** The group's id, if you have it: with it a lost answer is recovered, and the token of another group refused. */
  provided_id?: string | undefined
}

/** How the group is found. */
interface LookUp {
  record(providedId: string): Promise<{ user_group: UserGroupRecord }>
  group(providedId: string): Promise<{ user_group: UserGroup }>
}

const advice = 'The token may have been rotated: look the user group up with getOrCreate for its current one.'
const adviceWithoutId = `${advice} When provided_id is passed to rotate, it does so itself.`

const notItsToken =
  "This is not the current token of that user group: it was rotated before, or it is another group's. " +
  'Nothing was rotated. Look the user group up with getOrCreate for its current token.'

/** A token rotates once, so that a second call with it cannot give what the first one gave: the group is looked up. */
export async function rotate(
  connection: Connection,
  lookUp: LookUp,
  currentToken: string,
  { grace_seconds, provided_id, signal }: RotateOptions,
): Promise<UserGroupRotateTokenAnswer> {
  const call: Call<UserGroupRotateTokenAnswer> = {
    method: 'POST',
    path: '/api/user',
    body: { current_token: currentToken, grace_seconds },
    isAnswer: ({ user_group }) =>
      typeof user_group?.token === 'string' && (provided_id === undefined || user_group.provided_id === provided_id),
  }
  if (provided_id === undefined)
    return send(connection, { ...call, neverAfter: ['lost'], advice: adviceWithoutId }, { signal })
  const before = await look(lookUp, provided_id)
  if (before.group.token !== currentToken)
    throw new UserGroupServiceError('conflict', notItsToken, { field: 'provided_id' })
  const wasDone = async () => {
    const { created_at, group } = await look(lookUp, provided_id)
    if (group.token === currentToken) return undefined
    // An id can go from one group to another: it must be the one that had the token, before this look and behind it.
    const { user_group: record } = await lookUp.record(provided_id)
    const isSame = created_at === before.created_at && record.created_at === created_at
    return isSame ? ({ success: 1, user_group: group } as const) : undefined
  }
  return send(connection, { ...call, advice, wasDone }, { signal })
}

/**
 * First the record, which has no token: getOrCreate alone would create a group that was deleted, or never was. One that is
 * deleted between the two is made anew, as by any getOrCreate; its token is not the one looked for.
 */
async function look(lookUp: LookUp, providedId: string): Promise<{ created_at: string; group: UserGroup }> {
  const { created_at } = (await lookUp.record(providedId)).user_group
  return { created_at, group: (await lookUp.group(providedId)).user_group }
}
