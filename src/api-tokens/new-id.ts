import { ServiceError } from '../errors.ts'
import { newId } from '../ids.ts'

/** Returns the id. Another process may have made the same one in the same millisecond: then the next is tried. */
export async function addWithNewId(now: number, add: (id: number) => Promise<unknown>): Promise<number> {
  for (;;) {
    const id = newId(now)
    try {
      await add(id)
      return id
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'conflict')) throw error
    }
  }
}
