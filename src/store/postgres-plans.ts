import type pg from 'pg'
import { type Query, sql } from './database.ts'

const goodFor = 1_000
const discardPlans = { statement: sql`discard plans`, values: [] }

const madeAt = new WeakMap<pg.PoolClient, number>()

/**
 * PostgreSQL keeps the plan of a prepared statement until the rows of a table are counted again, up to a minute later: made
 * for ten rows, it reads all of the hundred thousand there are by then. One that is made anew goes by the size of the
 * files. What this returns is to be asked first, where a connection is taken from the pool.
 */
export function forgetOldPlans(client: pg.PoolClient): Query[] {
  const now = performance.now()
  if (now - (madeAt.get(client) ?? 0) < goodFor) return []
  madeAt.set(client, now)
  return [discardPlans]
}
