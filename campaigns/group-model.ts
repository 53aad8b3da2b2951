import type { Model } from './linearizability.ts'

export type Call =
  | { does: 'get' | 'disable' | 'enable' | 'delete' }
  /** Of a token that some earlier answer held. */
  | { does: 'rotate' | 'verify'; token: string }

export interface Answer {
  says:
    | 'created'
    | 'found'
    | 'replaced'
    | 'done'
    | 'active'
    | 'disabled'
    | 'rotated'
    | 'unknown'
    | 'token_already_rotated'
    | 'token_not_found'
    | 'user_group_not_found'
  /** The one it holds, if it holds one. */
  token?: string
}

export interface Group {
  /** Undefined where there is no group; null for a token that nobody has seen yet, as its answer was lost. */
  token: string | null | undefined
  disabled: boolean
  /** All that ever were its tokens: no token is made twice. */
  spent: readonly string[]
  /** How many of these it had before it was deleted last. */
  forgotten: number
}

/** One user group, as docs/decisions.md describes it, without grace. */
export const groupModel: Model<Group, Call, Answer> = {
  initial: { token: undefined, disabled: false, spent: [], forgotten: 0 },

  step(group, call, answer) {
    switch (call.does) {
      case 'get':
        return afterGet(group, answer)
      case 'rotate':
        return afterRotation(group, call.token, answer)
      case 'verify':
        return answer === undefined || answer.says === verdict(group, call.token) ? group : undefined
      case 'delete':
        return afterChange(group, answer, () => {
          const spent = typeof group.token === 'string' ? [...group.spent, group.token] : group.spent
          return { token: undefined, disabled: false, spent, forgotten: spent.length }
        })
      default: {
        const disabled = call.does === 'disable'
        return afterChange(group, answer, () => (group.disabled === disabled ? group : { ...group, disabled }))
      }
    }
  },

  isRead: ({ says }) => !['created', 'replaced', 'done'].includes(says),

  key: ({ token, disabled, spent, forgotten }) => `${token} ${disabled} ${forgotten} ${spent.join()}`,
}

function afterGet(group: Group, answer: Answer | undefined): Group | undefined {
  const exists = group.token !== undefined
  if (answer === undefined) return exists ? group : { ...group, token: null }
  if (answer.says === 'found' && group.token === answer.token) return group
  // A new token: made by this call, or by one whose answer was lost.
  const fits = answer.says === 'created' ? !exists : group.token === null
  return fits && isNew(group, answer.token) ? { ...group, token: answer.token } : undefined
}

function afterRotation(group: Group, token: string, answer: Answer | undefined): Group | undefined {
  const isCurrent = group.token === token
  const rotated = { ...group, spent: [...group.spent, token] }
  if (answer === undefined) return isCurrent ? { ...rotated, token: null } : group
  if (answer.says === 'replaced')
    return isCurrent && isNew(group, answer.token) ? { ...rotated, token: answer.token } : undefined
  const refusal = isFormer(group, token) ? 'token_already_rotated' : 'token_not_found'
  return !isCurrent && answer.says === refusal ? group : undefined
}

function afterChange(group: Group, answer: Answer | undefined, change: () => Group): Group | undefined {
  const exists = group.token !== undefined
  if (answer === undefined) return exists ? change() : group
  if (answer.says === 'done') return exists ? change() : undefined
  return exists ? undefined : group
}

function verdict(group: Group, token: string): Answer['says'] {
  if (group.token === token) return group.disabled ? 'disabled' : 'active'
  return isFormer(group, token) ? 'rotated' : 'unknown'
}

function isFormer({ spent, forgotten }: Group, token: string): boolean {
  return spent.indexOf(token) >= forgotten
}

function isNew({ token: current, spent }: Group, token: string | undefined): token is string {
  return token !== undefined && token !== current && !spent.includes(token)
}
