/** One call of one client. Where the answer was lost, nobody knows whether it happened: any time after it was sent, or never. */
export interface Operation<Call, Answer> {
  call: Call
  sent: number
  answer: Answer | undefined
  /** Infinite where the answer was lost. */
  answered: number
}

export type History<Call, Answer> = readonly Operation<Call, Answer>[]

/** What calls do when they come one after the other. */
export interface Model<State, Call, Answer> {
  initial: State
  /** The state afterwards, the same object if nothing changes; undefined where this cannot be the answer. */
  step(state: State, call: Call, answer: Answer | undefined): State | undefined
  /** Whether an operation with this answer never changes what others see. */
  isRead(answer: Answer): boolean
  /** The same text for the same state. */
  key(state: State): string
}

/**
 * Whether there is an order of the operations that explains every answer and in which each stands between its sending
 * and its answer. The search is Wing and Gong's, with Lowe's memory of where it has been before.
 */
export function isLinearizable<State, Call, Answer>(
  history: History<Call, Answer>,
  { initial, step, isRead, key }: Model<State, Call, Answer>,
): boolean {
  const seen = new Set<string>()
  const search = (before: State, left: History<Call, Answer>): boolean => {
    const open = afterReads(before, left)
    const deadline = firstAnswer(open)
    if (deadline === Number.POSITIVE_INFINITY) return true
    const place = `${open.map(({ sent }) => sent).join()} ${key(before)}`
    if (seen.has(place)) return false
    seen.add(place)
    return open.some((operation) => {
      if (operation.sent > deadline) return false
      const after = step(before, operation.call, operation.answer)
      // What was lost and would change nothing might as well never have happened.
      if (after === undefined || (after === before && operation.answer === undefined)) return false
      return search(
        after,
        open.filter((other) => other !== operation),
      )
    })
  }
  /** A read that fits here can stand here: whatever order there is, it would lose nothing by that. */
  const afterReads = (state: State, left: History<Call, Answer>): History<Call, Answer> => {
    const deadline = firstAnswer(left)
    const open = left.filter(
      ({ call, sent, answer }) =>
        answer === undefined || !isRead(answer) || sent > deadline || step(state, call, answer) !== state,
    )
    return open.length === left.length ? left : afterReads(state, open)
  }
  return search(initial, history)
}

function firstAnswer(history: History<unknown, unknown>): number {
  return history.reduce((first, { answered }) => Math.min(first, answered), Number.POSITIVE_INFINITY)
}

/** The first answer that no order explains: without it, and all that came later, there still is one. */
export function firstUnexplained<State, Call, Answer>(
  history: History<Call, Answer>,
  model: Model<State, Call, Answer>,
): Operation<Call, Answer> | undefined {
  const answers = history.filter(({ answer }) => answer !== undefined).sort((a, b) => a.answered - b.answered)
  return answers.find(({ answered: now }) => !isLinearizable(until(now, history), model))
}

/** As it looked at that moment: what was not answered yet may or may not have happened. */
function until<Call, Answer>(now: number, history: History<Call, Answer>): History<Call, Answer> {
  return history
    .filter(({ sent }) => sent < now)
    .map((operation) =>
      operation.answered <= now ? operation : { ...operation, answer: undefined, answered: Number.POSITIVE_INFINITY },
    )
}
