import { type Call, isMissing } from './call.ts'

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
    isOnce: true,
    advice: 'It may have been changed: look at it by its new id, and by its old one, before you repeat.',
    wasDone: async (error) => {
      if (!isMissing(error)) return undefined
      const answer = await read(renamed)
      const thing = thingOf(answer)
      return thing.created_at === created_at && isAs(change, thing) ? answer : undefined
    },
  }
}

/** By what can be compared at once; the rest was changed with it, or not at all. */
function isAs(change: object, thing: object): boolean {
  const scalars = Object.entries(change).filter(([, value]) => value !== undefined && typeof value !== 'object')
  return scalars.every(([name, value]) => (thing as Record<string, unknown>)[name] === value)
}
