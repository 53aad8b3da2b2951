import type { TokenVerifyAnswer } from './types.ts'

type Opened = 'user_group' | 'data_sources' | 'properties' | 'expires_at'

interface Active extends Pick<TokenVerifyAnswer, 'success' | 'unresolved'> {
  active: true
}

interface Inactive extends Pick<TokenVerifyAnswer, 'success'> {
  active: false
  reason: Exclude<TokenVerifyAnswer['reason'], undefined>
}

/** The answer to verify, as one of its two kinds: what the token opens, or why it opens nothing. */
export type Verification = (Active & { [Field in Opened]: Exclude<TokenVerifyAnswer[Field], undefined> }) | Inactive

export function isVerification(answer: Verification): boolean {
  if (answer.active) return answer.active === true && typeof answer.user_group?.provided_id === 'string'
  return answer.active === false
}
