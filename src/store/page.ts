import type { Age, Page } from './store.ts'

/** Of one more than the page holds: that one tells whether there is another page. */
export function page<Item, Place>(
  found: readonly Item[],
  limit: number,
  placeOf: (item: Item) => Place,
): Page<Item, Place> {
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, next: found.length > limit && last !== undefined ? placeOf(last) : null }
}

export function ageOf({ createdAt, id }: Age): Age {
  return { createdAt, id }
}
