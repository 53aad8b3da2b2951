import { UserGroupServiceError } from './error.ts'

interface Page<Item> {
  items: Item[]
  next: string | null
}

const notNext =
  'The answer is not the next page of the list; a cache or proxy between here and the service mixes answers up.'

/** All items of a list, page by page as they are needed. */
export async function* pages<Item>(
  first: string | null | undefined,
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null | undefined = first ?? undefined
  do {
    const { items, next }: Page<Item> = await read(cursor)
    // Otherwise the walk would begin again, and might never end.
    if (!Array.isArray(items) || next === undefined || next === cursor)
      throw new UserGroupServiceError('unexpected_answer', notNext)
    yield* items
    cursor = next
  } while (cursor !== null)
}
