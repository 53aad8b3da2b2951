import type { UserGroupServiceError } from './error.ts'
import type { TokenVerifyAnswer } from './types.ts'
import type { UserGroupService } from './user-group-service.ts'
import type { Verification } from './verification.ts'

/** What a verified token opens; it stands on the request as `userGroup`. */
export type VerifiedUserGroup = Omit<Extract<Verification, { active: true }>, 'success' | 'active'>

/** As much of a request as the guard needs, be it Node's, Express's or Fastify's. */
export interface GuardedRequest {
  headers: {
    authorization?: string | undefined
    cookie?: string | undefined
    [name: string]: string | string[] | undefined
  }
  userGroup?: VerifiedUserGroup
}

export interface GuardOptions<Request> {
  /** Where the token is, when it is not in `Authorization: Bearer …`. One that throws, or gives no string, has found none. */
  token?: ((request: Request) => string | null | undefined) | undefined
  /** Told why a request was answered with 503, for your log. */
  onError?: ((error: UserGroupServiceError) => void) | undefined
}

/** As much of an answer as the guard needs, Node's or Express's. */
export interface NodeAnswer {
  headersSent?: boolean
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(text: string): unknown
}

/** The same of Fastify's. */
export interface FastifyAnswer {
  sent?: boolean
  code(status: number): unknown
  header(name: string, value: string): unknown
  send(body: unknown): unknown
}

interface Refusal {
  status: number
  headers: Record<string, string>
  body: { success: 0; error: { code: string; message: string } }
}

// On what passes too, unless the handler says otherwise: it was made for one group's eyes.
const neverStored = { 'Cache-Control': 'no-store' }

// NoInfer: where the guard is written inline, TypeScript from 5.9 on would take the request it is put before for never.

/** Middleware for node:http and Express: lets a request pass only with the token of a user group. */
export function requireUserGroup<Request extends GuardedRequest = GuardedRequest>(
  client: Pick<UserGroupService, 'verify'>,
  options: GuardOptions<Request> = {},
) {
  return async (request: NoInfer<Request>, response: NodeAnswer, next: () => unknown): Promise<void> => {
    const refusal = await judge(client, request, options)
    // Somebody else has answered in the meantime, a time limit of the server, say.
    if (response.headersSent) return
    for (const [name, value] of Object.entries(refusal?.headers ?? neverStored)) response.setHeader(name, value)
    if (refusal === undefined) {
      // So that whoever waits for the guard hears of a handler that fails later.
      await next()
      return
    }
    response.statusCode = refusal.status
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    response.end(JSON.stringify(refusal.body))
  }
}

/** The same as a hook for Fastify's onRequest or preHandler. */
export function requireUserGroupHook<Request extends GuardedRequest = GuardedRequest>(
  client: Pick<UserGroupService, 'verify'>,
  options: GuardOptions<Request> = {},
) {
  return async (request: NoInfer<Request>, reply: FastifyAnswer): Promise<unknown> => {
    const refusal = await judge(client, request, options)
    if (reply.sent) return reply
    for (const [name, value] of Object.entries(refusal?.headers ?? neverStored)) reply.header(name, value)
    if (refusal === undefined) return undefined
    reply.code(refusal.status)
    reply.send(refusal.body)
    return reply
  }
}

/** What the guard put on the request. Fails where no guard stood before. */
export function userGroupOf(request: object): VerifiedUserGroup {
  const { userGroup } = request as Partial<GuardedRequest>
  if (!userGroup) throw new Error('The request did not pass requireUserGroup.')
  return userGroup
}

/** Asks the service every time: a token that was rotated or disabled opens nothing from then on. */
async function judge<Request extends GuardedRequest>(
  client: Pick<UserGroupService, 'verify'>,
  request: Request,
  { token = bearerToken, onError }: GuardOptions<Request>,
): Promise<Refusal | undefined> {
  // Whatever was there came from somebody else.
  delete request.userGroup
  const given = tokenOf(request, token)
  if (typeof given !== 'string' || !isPossible(given)) return unauthorized('Send the token of a user group.')
  try {
    const { success, ...answer } = await client.verify(given)
    if (!answer.active) return unauthorized(`The token opens nothing: ${reasons[answer.reason]}.`)
    const { active, ...verified } = answer
    request.userGroup = verified
    return undefined
  } catch (error) {
    // Only a caller's own signal ends a call with anything else, and here is none.
    void tell(error as UserGroupServiceError, onError)
    return unavailable((error as Partial<UserGroupServiceError> | undefined)?.retryAfter)
  }
}

/** What a visitor has sent can make it throw, a cookie that decodes to nothing: then there is no token. */
function tokenOf<Request>(request: Request, token: (request: Request) => unknown): unknown {
  try {
    return token(request)
  } catch {
    return undefined
  }
}

/** A log that fails must not take the process with it, be it now or later. */
async function tell(error: UserGroupServiceError, onError: GuardOptions<never>['onError']): Promise<void> {
  try {
    await onError?.(error)
  } catch {
    // The visitor gets the answer all the same.
  }
}

function bearerToken({ headers }: GuardedRequest): string | undefined {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

/** Keeps what cannot be a token from costing a call. */
function isPossible(token: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(token)
}

const reasons: Record<Exclude<TokenVerifyAnswer['reason'], undefined>, string> = {
  unknown: 'it is not known',
  rotated: 'it was replaced by a new one',
  disabled: 'its user group is disabled',
}

function unauthorized(message: string): Refusal {
  return {
    status: 401,
    headers: { ...neverStored, 'WWW-Authenticate': 'Bearer' },
    body: { success: 0, error: { code: 'invalid_token', message } },
  }
}

/** The visitor is to wait as long as the service asks for. */
function unavailable(retryAfter = 1): Refusal {
  const message = 'The token cannot be verified at the moment; try again.'
  return {
    status: 503,
    headers: { ...neverStored, 'Retry-After': String(Math.max(1, Math.ceil(retryAfter))) },
    body: { success: 0, error: { code: 'unavailable', message } },
  }
}
