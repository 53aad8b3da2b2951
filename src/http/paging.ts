import type { Static } from 'typebox'
import { invalid } from '../errors.ts'
import type { Age } from '../store/store.ts'
import { isText } from './fields.ts'
import { Type } from './type.ts'

export const Limit = Type.Optional(
  Type.String({ pattern: '^([1-9]\\d?|1\\d\\d|200)$', description: 'a whole number from 1 to 200' }),
)
export const defaultLimit = 100

export const PageQuery = Type.Object({
  limit: Limit,
  cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,1500}$', description: 'a next_cursor of this list' })),
})

/** Of lists in the order of their ids. */
export const byId = pagesBy<number>({
  first: 0,
  written: String,
  parse: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : undefined),
})

/** Of lists in the order in which things were made. */
export const byAge = pagesBy<Age>({
  first: { createdAt: 0, id: '' },
  written: ({ createdAt, id }) => `${createdAt} ${id}`,
  parse(text) {
    const [, createdAt, id = ''] = /^(\d{1,16}) (.*)$/s.exec(text) ?? []
    return isText(id) ? { createdAt: Number(createdAt), id } : undefined
  },
})

interface Order<Place> {
  first: Place
  written(place: Place): string
  parse(text: string): Place | undefined
}

function pagesBy<Place>({ first, written, parse }: Order<Place>) {
  // Not to be made up by callers, so it looks like nothing.
  const cursorTo = (place: Place) => Buffer.from(`after ${written(place)}`).toString('base64url')
  const placeOf = (cursor: string) => {
    const [, text = ''] = /^after (.+)$/su.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
    const place = parse(text)
    if (place === undefined || cursorTo(place) !== cursor) throw invalid('cursor', 'must be a next_cursor of this list')
    return place
  }
  return {
    asked: ({ cursor, limit }: Static<typeof PageQuery>) => ({
      after: cursor === undefined ? first : placeOf(cursor),
      limit: Number(limit ?? defaultLimit),
    }),
    cursorTo: (next: Place | null) => (next === null ? null : cursorTo(next)),
  }
}
