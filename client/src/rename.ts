import { type Call, isMissing } from './call.ts'
import { isObject } from './json.ts'

interface Thing {
  created_at: string
}

/**
 * A change that gives a thing a new id. Once it is done, the old id leads nowhere, and a second one fails: then what has
 * the new id must be the thing there was before, changed as it should be.
 */
export async function renaming<Answer>(
  call: Call<Answer> & { id: string; body: { provided_id?: string | undefined } },
  read: (id: string) => Promise<Answer>,
  thingOf: (answer: Answer) => Thing,
): Promise<Call<Answer>> {
  const { id, body: change } = call
  const { provided_id: renamed } = change
  if (renamed === undefined || renamed === id) return call
  const { created_at } = thingOf(await read(id))
  return {
    ...call,
    advice: 'It may have been changed: look at it by its new id, and by its old one, before you repeat.',
    wasDone: async (error) => {
      if (!isMissing(error)) return undefined
      const answer = await read(renamed)
      const thing = thingOf(answer)
      return thing.created_at === created_at && isAs(change, thing) ? answer : undefined
    },
  }
}

/** All of it: of what cannot be read back, as a connection, nobody knows. */
function isAs(change: object, thing: object): boolean {
  return Object.entries(change).every(([name, value]) => isSame(value, (thing as Record<string, unknown>)[name]))
}

/** Of two values as JSON has them. */
function isSame(one: unknown, other: unknown): boolean {
  if (!isObject(one) || !isObject(other)) return one === other
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}
