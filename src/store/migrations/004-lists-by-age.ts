import { sql } from '../database.ts'

// A page of a long list is found where the last one ended.
export const listsByAge = [
  sql`create index data_schema_by_age on data_schema (team_id, created_at, id)`,
  sql`create index data_source_by_age on data_source (team_id, created_at, id)`,
]
