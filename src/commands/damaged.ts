import { OperatorError } from '../operator-error.ts'
import type { SealedRow, Store } from '../store/store.ts'

/** Nobody can rotate a token that cannot be shown. */
const anewOrRestored = 'Delete the user group and create it again, which gives it another token; or restore a backup.'

export function leftOut(userGroups: readonly string[], teamId: number): OperatorError {
  const names = userGroups.map((id) => `user group ${id}`).join(', ')
  return new OperatorError(`Left out, as the stored token does not open: ${names} of team ${teamId}.`, anewOrRestored)
}

export function unopenedToken(userGroup: string, teamId: number, reason: Error): OperatorError {
  const sentence = `The token of user group ${userGroup} of team ${teamId} does not open: ${reason.message}.`
  return new OperatorError(sentence, anewOrRestored, reason)
}

/** A seal that keeps `ugs keys rotate` from its end. */
export async function unopened(row: SealedRow, store: Store, reason: Error): Promise<OperatorError> {
  const isToken = row.purpose === 'user_group.token'
  const what = isToken ? `token of user group ${await providedIdOf(row, store)}` : `connection of data source ${row.id}`
  const remedy = isToken ? anewOrRestored : 'Set it anew with ugs data-source update, or restore a backup.'
  return new OperatorError(
    `The ${what} of team ${row.teamId} does not open: ${reason.message}.`,
    `${remedy} Then run this again: it goes on where it was, and no key is retired before.`,
    reason,
  )
}

async function providedIdOf({ teamId, id }: SealedRow, store: Store): Promise<string> {
  const { items } = await store.forTeam(teamId, null).userGroups.listWithTokens({ after: Number(id) - 1, limit: 1 })
  return items.find((group) => group.id === id)?.providedId ?? String(id)
}
