import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { Caller, Scope } from '../api-tokens/api-token.ts'
import { type ErrorCode, ServiceError } from '../errors.ts'
import type { Service } from '../service.ts'
import type { TeamStore } from '../store/store.ts'
import type { Authenticate } from './authenticate.ts'
import { validator } from './validate.ts'

/** What a handler works with: the caller's team, and nothing of any other. */
export interface TeamContext<Body = undefined, Query = unknown> extends Pick<Service, 'tokens' | 'memory' | 'clock'> {
  body: Body
  query: Query
  /** The last part of a path that ends in {…}, decoded; otherwise ''. */
  id: string
  team: TeamStore
  teamId: number
  caller: Caller
}

export type OpenContext = Pick<Service, 'store' | 'tokens' | 'clock'>

interface Declared {
  /** Names the operation in logs, metrics, the OpenAPI document and the client. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** With {name} for the part that is an id: it is the last one. */
  path: string
  summary: string
  /** The answer's fields beside `success`. */
  reply: TProperties
  /** The error codes it can give, beyond those every operation can. */
  errors: readonly ErrorCode[]
  /** A real call and its real answer: sent by a test, and shown in the docs. */
  example?: Example
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
  handle(context: TeamContext<unknown, unknown>): Promise<object>
}

export interface OpenOperation extends Declared {
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
    handle(context: TeamContext<Static<Body>, Static<Query>>): Promise<Static<TObject<Reply>>>
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

/** Turns declarations into routes. */
export function route(
  app: FastifyInstance,
  operations: readonly Operation[],
  service: Service,
  authenticate: Authenticate,
): void {
  for (const declared of operations) {
    const { id, method, scope } = declared
    const common = { method, url: routePath(declared.path), schema: { response: { 200: replySchema(declared) } } }
    if (scope === null) {
      const handler = async () => ({ success: 1, ...(await declared.handle(service)) })
      app.route({ ...common, onRequest: entry(id), handler })
    } else {
      const takesBody = declared.body !== undefined
      const admit = (request: FastifyRequest, reply: FastifyReply) => authenticate(request, reply, scope)
      const onRequest = entry(id, admit, (request) => takesBody || refuseBody(request))
      app.route({ ...common, onRequest, handler: teamHandler(declared, service) })
    }
  }
}

type Check = (request: FastifyRequest, reply: FastifyReply) => unknown

/** Names the operation and makes the checks before the body is read; without a promise where none is needed. */
export function entry(operation: string, ...checks: Check[]): onRequestHookHandler {
  return (request, reply, done) => {
    request.operation = operation
    const run = (at: number): void => {
      for (let index = at; index < checks.length; index++) {
        const waiting = checks[index]?.(request, reply)
        if (waiting instanceof Promise) {
          waiting.then(() => run(index + 1)).catch(done)
          return
        }
      }
      done()
    }
    try {
      run(0)
    } catch (error) {
      done(error as Error)
    }
  }
}

export function replySchema({ reply }: Operation) {
  return Type.Object({ success: Type.Literal(1), ...reply })
}

/** `/api/schemas/{id}` as the router writes it. */
export function routePath(path: string): string {
  return path.replace(/\{\w+\}$/, ':id')
}

function teamHandler(declared: TeamOperation, { store, tokens, memory, clock }: Service) {
  const readBody = bodyReader(declared)
  const readQuery = declared.query && validator(declared.query, 'The query')
  return async (request: FastifyRequest) => {
    const { caller } = request
    if (caller === null) throw new Error(`${declared.id} was reached without authentication`)
    const body = readBody(request.body)
    const query = readQuery?.(decodableQuery(request))
    const { id = '' } = request.params as { id?: string }
    const { teamId } = caller
    const team = store.forTeam(teamId, caller.name)
    const answer = await declared.handle({ body, query, id, team, teamId, caller, tokens, memory, clock })
    return { success: 1, ...answer }
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

/** Whatever it is: before it is read. */
function refuseBody({ headers, method, operation }: FastifyRequest): void {
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return
  throw new ServiceError('invalid_request', { message: `${method} (${operation}) takes no body; send none.` })
}

/** The router's parser takes a percent sign that begins nothing for itself; we take it for a mistake. */
function decodableQuery({ query, raw }: FastifyRequest): unknown {
  const { url = '' } = raw
  const at = url.indexOf('?')
  try {
    if (at >= 0) decodeURIComponent(url.slice(at))
    return query
  } catch {
    throw new ServiceError('invalid_request', { message: 'The query is not valid percent-encoding.' })
  }
}
