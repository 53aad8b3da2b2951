import { eventually } from './eventually.ts'
import type { StoreOnTest } from './store.ts'

/** Until so many connections of the database wait for what others have locked. */
export async function lockWaits({ sql }: StoreOnTest, count: number): Promise<void> {
  await eventually(`${count} wait for a lock`, async () => {
    const waiting = await sql(`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    return waiting.length === count
  })
}
