import type { Static, TObject, TProperties, TSchema } from 'typebox'
import type { Scope } from '../api-tokens/api-token.ts'
import { type ErrorCode, ServiceError } from '../errors.ts'
import { parseJson } from '../json.ts'
import type { Service } from '../service.ts'
import { after, type Soon } from '../soon.ts'
import type { TeamStore } from '../store/store.ts'
import { type Content, type Exchange, json } from './exchange.ts'
import { inPieces } from './pieces.ts'
import { queryOf } from './router.ts'
import { Type } from './type.ts'
import { validator } from './validate.ts'

/** What a handler works with: the caller's team, and nothing of any other. */
export interface TeamContext<Body = undefined, Query = unknown> extends Pick<Service, 'tokens' | 'memory' | 'clock'> {
  body: Body
  query: Query
  /** The last part of a path that ends in {…}, decoded; otherwise ''. */
  id: string
  team: TeamStore
  teamId: number
}

type OpenContext = Pick<Service, 'store' | 'tokens'>

interface Declared {
  /** Names the operation in logs, metrics, the OpenAPI document and the client. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With {name} for the part that is an id: it is the last one. */
  path: string
  summary: string
  /** What the summary has no room for. */
  description?: string
  /** The answer's fields beside `success`. */
  reply: TProperties
  /** The error codes it can give, beyond those every operation can. */
  errors: readonly ErrorCode[]
  /** A real call and its real answer: sent by a test, and shown in the docs. */
  example: Example
}

export interface Example {
  /** For the part of the path in {…}. */
  id?: string
  body?: unknown
  query?: Record<string, string>
  reply: object
}

export interface TeamOperation extends Declared {
  scope: Scope
  /** Without one, a request that has a body is refused. */
  body?: TSchema
  query?: TSchema
  /** What to say when there is no body, where more can be said than that. */
  missingBody?: string
  handle(context: TeamContext<unknown, unknown>): Soon<object>
}

interface OpenOperation extends Declared {
  /** Needs no API token. */
  scope: null
  handle(context: OpenContext): Promise<object>
}

export type Operation = TeamOperation | OpenOperation

/** Ties the handler to the schemas it stands beside: what comes in is `body` and `query`, what goes out is `reply`. */
export function operation<Reply extends TProperties, Body extends TSchema = TSchema, Query extends TSchema = TSchema>(
  declaration: Omit<TeamOperation, 'handle'> & {
    body?: Body
    query?: Query
    reply: Reply
    handle(context: TeamContext<Static<Body>, Static<Query>>): Soon<ReplyOf<Reply> | Written<ReplyOf<Reply>>>
  },
): TeamOperation {
  return declaration
}

export function openOperation<Reply extends TProperties>(
  declaration: Omit<OpenOperation, 'handle'> & {
    reply: Reply
    handle(context: OpenContext): Promise<Static<TObject<Reply>>>
  },
): OpenOperation {
  return declaration
}

/** What a path and method lead to. */
export interface Route {
  id: string
  method: string
  path: string
  /** Null where no API token is needed. */
  scope: Scope | null
  takesBody: boolean
  answer(exchange: Exchange, id: string, body: unknown): Soon<Answer>
}

export interface Answer {
  type: string
  content: Content
}

/** Turns a declaration into a route. */
export function routeOf(declared: Operation, service: Service): Route {
  const { id, method, path, scope } = declared
  if (declared.scope === null) {
    return { id, method, path, scope, takesBody: false, answer: async () => success(await declared.handle(service)) }
  }
  return { id, method, path, scope, takesBody: declared.body !== undefined, answer: teamAnswer(declared, service) }
}

export function replySchema({ reply }: Operation) {
  return Type.Object({ success: Type.Literal(1), ...reply })
}

type ReplyOf<Reply extends TProperties> = Static<TObject<Reply>>

/** A reply as it goes out: for one that is remembered and given again. */
export class Written<Reply extends object> implements Answer {
  readonly type = json
  readonly content: string

  constructor(reply: Reply) {
    this.content = JSON.stringify({ success: 1, ...reply })
  }

  get reply(): Reply {
    const { success, ...reply } = parseJson(this.content) as { success: 1 } & Reply
    return reply as unknown as Reply
  }
}

function success(reply: object): Answer {
  return reply instanceof Written ? reply : new Written(reply)
}

function isList({ method, reply }: Operation): boolean {
  return method === 'GET' && Object.values(reply).some((schema) => 'items' in schema)
}

function successOfList(page: object): Answer {
  return { type: json, content: inPieces({ success: 1, ...page }) }
}

function teamAnswer(declared: TeamOperation, service: Service): Route['answer'] {
  const { store, tokens, memory, clock } = service
  const readBody = bodyReader(declared)
  const readQuery = queryReader(declared)
  const write = isList(declared) ? successOfList : success
  return ({ caller, admission, request }, id, given) => {
    if (caller === null) throw new Error(`${declared.id} was reached without authentication`)
    const body = readBody(given)
    const query = readQuery(request.url ?? '')
    const { teamId } = caller
    const team = store.forTeam(teamId, caller, admission)
    return after(declared.handle({ body, query, id, team, teamId, tokens, memory, clock }), write)
  }
}

function bodyReader({ body, missingBody }: TeamOperation): (body: unknown) => unknown {
  if (body === undefined) return () => undefined
  const validate = validator(body, 'The body')
  return (given) => {
    if (given !== undefined) return validate(given)
    throw new ServiceError('missing_body', missingBody === undefined ? {} : { message: missingBody })
  }
}

function queryReader({ query }: TeamOperation): (target: string) => unknown {
  if (query === undefined) return () => undefined
  const validate = validator(query, 'The query')
  const known = Object.keys((query as TObject).properties)
  return (target) => {
    const given = queryOf(target)
    // Whoever misspells the cursor would be given the first page for ever.
    const unknown = Object.keys(given).find((name) => !known.includes(name))
    if (unknown !== undefined)
      throw new ServiceError('invalid_request', {
        // No secret is that short: a longer name might be one that was put in the wrong place.
        ...(/^\w{1,15}$/.test(unknown) && { field: unknown }),
        message: `${mistaken(unknown, known)}The query may hold ${known.join(', ')} and nothing else.`,
      })
    return validate(given)
  }
}

/** All lists give a next_cursor, and not all take it under one name. */
function mistaken(unknown: string, known: readonly string[]): string {
  const right = unknown === 'cursor' ? 'after' : 'cursor'
  const isMistaken = (unknown === 'cursor' || unknown === 'after') && known.includes(right)
  return isMistaken ? `This list calls it ${right}, not ${unknown}. ` : ''
}
