import { sql } from '../database.ts'

// A rotation ends the former tokens of the group that are in grace: without looking at those that are over, which are as
// many as there were rotations.
export const formerTokensInGrace = [
  sql`create index former_token_in_grace on former_token (user_group_id) where valid_until > rotated_at`,
]
