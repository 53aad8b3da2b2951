import { sql } from '../database.ts'

// Which of several API tokens of one name acted, and what more there is to say, as JSON. Of older events neither is known.
export const moreOfAnEvent = [
  sql`alter table event add column by_api_token_id bigint`,
  sql`alter table event add column detail text`,
]
