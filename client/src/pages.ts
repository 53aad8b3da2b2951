interface Page<Item> {
  items: Item[]
  next: string | null
}

/** All items of a list, page by page as they are needed. */
export async function* pages<Item>(
  first: string | undefined,
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null | undefined = first
  do {
    const { items, next }: Page<Item> = await read(cursor)
    yield* items
    cursor = next
  } while (cursor !== null)
}
