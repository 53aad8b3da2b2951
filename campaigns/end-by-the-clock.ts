import type { Rewrite } from './campaign.ts'

const file = 'store/user-group-statements.ts'

/** Plants that a token rotated without grace verifies until the clock of who asks says that it is over. */
export const endByTheClock: Rewrite[] = [
  { file, find: 'f.hash in ($3, $4) and f.valid_until > f.rotated_at), 0)', replace: 'f.hash in ($3, $4)), 0)' },
]
