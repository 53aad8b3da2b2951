import { sql } from '../database.ts'

// What is found by its id as it stands needs no second entry in lower case, and no third under a name that is the id:
// a create then touches fewer pages. Old events are found team by team, in their order.
export const fewerIndexEntries = [
  sql`drop index user_group_by_provided_id`,
  sql`drop index user_group_by_name`,
  sql`create index user_group_by_lower_id on user_group (team_id, lower(provided_id)) where provided_id <> lower(provided_id)`,
  sql`create index user_group_by_own_name on user_group (team_id, lower(name)) where name <> provided_id`,
  sql`drop index event_by_age`,
]
