import type { Static } from 'typebox'
import { invalid } from '../errors.ts'
import type { Age } from '../store/store.ts'
import { isText, wholeNumber } from './fields.ts'
import { Type } from './type.ts'

export const defaultLimit = 100
export const Limit = wholeNumber({
  ...{ minimum: 1, maximum: 200, default: defaultLimit },
  pattern: '^([1-9]\\d?|1\\d\\d|200)$',
  description: `a whole number from 1 to 200, by default ${defaultLimit}`,
})

export const PageQuery = Type.Object({
  limit: Limit,
  cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,1500}$', description: 'a next_cursor of this list' })),
})

/** Of a list in the order of its ids. */
export function byId(list: List) {
  return pagesBy<number>(list, {
    first: 0,
    written: String,
    parse: (text) => (/^\d{1,16}$/.test(text) ? Number(text) : undefined),
  })
}

/** Of a list in the order in which things were made. */
export function byAge(list: List) {
  return pagesBy<Age>(list, {
    first: { createdAt: 0, id: '' },
    written: ({ createdAt, id }) => `${createdAt} ${id}`,
    parse(text) {
      const [, createdAt, id = ''] = /^(\d{1,16}) (.*)$/s.exec(text) ?? []
      return isText(id) ? { createdAt: Number(createdAt), id } : undefined
    },
  })
}

/** What a cursor begins with, so that no other list takes it. The cursors of user groups are those of version 0.1.0. */
const beginnings = {
  user_groups: 'after ',
  schemas: 'schemas after ',
  data_sources: 'data_sources after ',
  api_tokens: 'api_tokens after ',
}

type List = keyof typeof beginnings

interface Order<Place> {
  first: Place
  written(place: Place): string
  parse(text: string): Place | undefined
}

function pagesBy<Place>(list: List, { first, written, parse }: Order<Place>) {
  const beginning = beginnings[list]
  // Not to be made up by callers, so it looks like nothing.
  const cursorTo = (place: Place) => Buffer.from(beginning + written(place)).toString('base64url')
  const placeOf = (cursor: string) => {
    const text = Buffer.from(cursor, 'base64url').toString()
    const place = text.startsWith(beginning) ? parse(text.slice(beginning.length)) : undefined
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
