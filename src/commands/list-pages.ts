import { given } from '../http/fields.ts'
import { perform } from './perform.ts'
import { withService } from './with-service.ts'

const pageSize = 200

type Answer<Item> = Record<string, Item[]> & { next_cursor: string | null }

/** Asks an operation that lists for page after page, until there are as many as wanted, or all; `more`: there are others. */
export function listPages<Item>(
  teamId: number,
  operation: string,
  field: string,
  { limit = Number.POSITIVE_INFINITY, ...filter }: { limit?: number; q?: string | undefined } = {},
): Promise<{ items: Item[]; more: boolean }> {
  return withService(async (service) => {
    const items: Item[] = []
    let cursor: string | null | undefined
    while (cursor !== null && items.length < limit) {
      const size = String(Math.min(pageSize, limit - items.length))
      const query = given({ ...filter, limit: size, cursor })
      const page: Answer<Item> = await perform(service, teamId, operation, { query })
      items.push(...(page[field] ?? []))
      cursor = page.next_cursor
    }
    return { items, more: cursor !== null }
  })
}
