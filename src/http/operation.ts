import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { Caller, Scope } from '../api-tokens/api-token.ts'
import { type ErrorCode, ServiceError } from '../errors.ts'
import type { Service } from '../service.ts'
import type { TeamStore } from '../store/store.ts'
import type { Authenticate } from './authenticate.ts'
import { validator } from './validate.ts'

/** What a handler works with: the caller's team, and nothing of any other. */
export interface TeamContext<Body> extends Pick<Service, 'tokens' | 'clock'> {
  body: Body
  team: TeamStore
  teamId: number
  caller: Caller
}

export type OpenContext = Pick<Service, 'store' | 'tokens' | 'clock'>

interface Declared {
  /** Names the operation in logs and metrics. */
  id: string
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  summary: string
  /** The answer's fields beside `success`. */
  reply: TProperties
  /** The error codes it can give, beyond those every operation can. */
  errors: readonly ErrorCode[]
}

export interface TeamOperation extends Declared {
  scope: Scope
  body: TSchema
  /** What to say when there is no body, where more can be said than that. */
  missingBody?: string
  handle(context: TeamContext<unknown>): Promise<object>
}

export interface OpenOperation extends Declared {
  /** Needs no API token. */
  scope: null
  handle(context: OpenContext): Promise<object>
}

export type Operation = TeamOperation | OpenOperation

/** Ties the handler to the schemas it stands beside: what comes in is `body`, what goes out is `reply`. */
export function operation<Body extends TSchema, Reply extends TProperties>(
  declaration: Omit<TeamOperation, 'handle'> & {
    body: Body
    reply: Reply
    handle(context: TeamContext<Static<Body>>): Promise<Static<TObject<Reply>>>
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

/** Turns declarations into routes, and every other method on their paths into a 405. */
export function route(
  app: FastifyInstance,
  operations: readonly Operation[],
  service: Service,
  authenticate: Authenticate,
): void {
  for (const declared of operations) {
    const { method, path: url } = declared
    const common = {
      method,
      url,
      config: { operation: declared.id },
      schema: { response: { 200: Type.Object({ success: Type.Literal(1), ...declared.reply }) } },
    }
    if (declared.scope === null) {
      app.route({ ...common, handler: async () => ({ success: 1, ...(await declared.handle(service)) }) })
    } else {
      app.route({
        ...common,
        onRequest: (request: FastifyRequest, reply: FastifyReply) => authenticate(request, reply, declared.scope),
        handler: teamHandler(declared, service),
      })
    }
  }
}

function teamHandler(declared: TeamOperation, { store, tokens, clock }: Service) {
  const validate = validator(declared.body, 'The body')
  return async (request: FastifyRequest) => {
    const { caller } = request
    if (caller === null) throw new Error(`${declared.id} was reached without authentication`)
    if (request.body === undefined)
      throw new ServiceError(
        'missing_body',
        declared.missingBody === undefined ? {} : { message: declared.missingBody },
      )
    const body = validate(request.body)
    const { teamId } = caller
    const answer = await declared.handle({ body, team: store.forTeam(teamId), teamId, caller, tokens, clock })
    return { success: 1, ...answer }
  }
}
