import { AssertionError } from 'node:assert'
import type { Caller, Answer as Reply } from '../test/support/caller.ts'
import type { Answer, Call } from './group-model.ts'
import type { Operation } from './linearizability.ts'

const refusals = ['token_already_rotated', 'token_not_found', 'user_group_not_found'] as const

/** One user group, and what everybody did to it. */
export class RecordedGroup {
  readonly id: string
  readonly operations: Operation<Call, Answer>[] = []
  /** Those that answers held so far, the newest last. */
  readonly tokens: string[] = []
  underWay = 0
  #now = 0

  constructor(id: string) {
    this.id = id
  }

  async perform(call: Call, caller: Caller): Promise<void> {
    const operation: Operation<Call, Answer> = { call, sent: this.#now++, answer: undefined, answered: Infinity }
    this.operations.push(operation)
    this.underWay += 1
    const answer = await ask(caller, this.id, call)
    this.underWay -= 1
    if (answer === undefined) return
    operation.answer = answer
    operation.answered = this.#now++
    if (answer.token !== undefined && !this.tokens.includes(answer.token)) this.tokens.push(answer.token)
  }

  /** One operation in a few words, its tokens numbered: `rotate t1 → replaced t2`. */
  describe({ call, answer }: Operation<Call, Answer>): string {
    const named = (token: string | undefined) => (token === undefined ? '' : ` t${this.tokens.indexOf(token) + 1}`)
    const asked = call.does + named('token' in call ? call.token : undefined)
    return `${asked} → ${answer === undefined ? 'lost' : answer.says + named(answer.token)}`
  }

  transcript(): string {
    const lines = this.operations.map((operation) => {
      const { sent, answered } = operation
      return `${String(sent).padStart(4)}–${answered === Infinity ? '' : answered}  ${this.describe(operation)}`
    })
    return [`${this.id}:`, ...lines].join('\n')
  }
}

/** Undefined where nobody can tell whether it happened: the process died, or said that it could not reach its database. */
async function ask(caller: Caller, id: string, call: Call): Promise<Answer | undefined> {
  let reply: Reply
  try {
    reply = await send(caller, id, call)
  } catch (error) {
    if (error instanceof AssertionError) throw error
    return undefined
  }
  return reply.status === 503 ? undefined : understand(call, reply)
}

function send(caller: Caller, id: string, call: Call): Promise<Reply> {
  const path = `/api/user_groups/${id}`
  switch (call.does) {
    case 'get':
      return caller.getOrCreate(id)
    case 'rotate':
      return caller.rotate(call.token)
    case 'verify':
      return caller.verify(call.token)
    case 'delete':
      return caller.call('DELETE', path)
    default:
      return caller.call('PATCH', path, { json: { disabled: call.does === 'disable' } })
  }
}

function understand({ does }: Call, { status, body }: Reply): Answer {
  if (status === 200) {
    const { token } = body.user_group ?? {}
    if (does === 'get') return { says: body.new_user_group ? 'created' : 'found', token }
    if (does === 'rotate') return { says: 'replaced', token }
    if (does === 'verify') return { says: body.active ? 'active' : body.reason }
    if (does === 'delete' || body.user_group.disabled === (does === 'disable')) return { says: 'done' }
  }
  const says = refusals.find((code) => code === body.error?.code)
  if (says === undefined) throw new Error(`${does} was answered with ${status} ${JSON.stringify(body)}`)
  return { says }
}
