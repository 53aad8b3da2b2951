import type { Rewrite } from './campaign.ts'

const file = 'store/user-group-statements.ts'

/** Plants that a token rotated without grace verifies until the clock of who asks says that it is over. */
export const endByTheClock: Rewrite[] = [
  { file, find: "'case when f.valid_until > f.rotated_at then f.valid_until else 0 end'", replace: "'f.valid_until'" },
  { file, find: 'hash = f.hash and valid_until > rotated_at), 0)', replace: 'hash = f.hash), 0)' },
]
