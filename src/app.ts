import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS } from 'node:http'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify'
import { createApiToken } from './api-tokens/create.ts'
import { listApiTokens } from './api-tokens/list.ts'
import { revokeApiToken } from './api-tokens/revoke.ts'
import { createDataSource } from './data-sources/create.ts'
import { deleteDataSource } from './data-sources/delete.ts'
import { getDataSource } from './data-sources/get.ts'
import { listDataSources } from './data-sources/list.ts'
import { updateDataSource } from './data-sources/update.ts'
import { ServiceError } from './errors.ts'
import { listEvents } from './events/list.ts'
import { authenticator, type Limits } from './http/authenticate.ts'
import { acceptJson, bodyLimit } from './http/body.ts'
import { answerOddRequests, RequestsUnderWay } from './http/connections.ts'
import { documentPaths, serveDocuments } from './http/documents.ts'
import { answerError, answerNotFound, standingHeaders } from './http/error-handler.ts'
import { healthz, readyz } from './http/health.ts'
import type { Metrics } from './http/metrics.ts'
import { entry, type Operation, route, routePath } from './http/operation.ts'
import { hangUpOnSlowReaders } from './http/slow-readers.ts'
import { createSchema } from './schemas/create.ts'
import { deleteSchema } from './schemas/delete.ts'
import { getSchema } from './schemas/get.ts'
import { listSchemas } from './schemas/list.ts'
import type { Service } from './service.ts'
import { getTeam } from './teams/get.ts'
import { updateTeam } from './teams/update.ts'
import { tokenPattern } from './tokens/format.ts'
import { deleteUserGroup } from './user-groups/delete.ts'
import { getUserGroup } from './user-groups/get.ts'
import { getOrCreate, getOrCreateByPost } from './user-groups/get-or-create.ts'
import { listUserGroups } from './user-groups/list.ts'
import { rotateToken } from './user-groups/rotate-token.ts'
import { updateUserGroup } from './user-groups/update.ts'
import { verifyToken } from './verify/verify.ts'
import { version } from './version.ts'

/** Every operation there is. Routes, metrics, logs, the OpenAPI document and the tests that cover all come from it. */
export const operations: readonly Operation[] = [
  getOrCreate,
  rotateToken,
  verifyToken,
  getOrCreateByPost,
  listUserGroups,
  getUserGroup,
  updateUserGroup,
  deleteUserGroup,
  createSchema,
  listSchemas,
  getSchema,
  deleteSchema,
  createDataSource,
  listDataSources,
  getDataSource,
  updateDataSource,
  deleteDataSource,
  createApiToken,
  listApiTokens,
  revokeApiToken,
  getTeam,
  updateTeam,
  listEvents,
  healthz,
  readyz,
]

export interface AppOptions {
  service: Service
  limits: Limits
  log: FastifyBaseLogger
  metrics: Metrics
  /** The figures of all processes that share the port, as Prometheus reads them. */
  collectMetrics: () => Promise<string>
  /** Of the operator's own form: only known by its value, when it turns up in the wrong place. */
  configuredToken?: string | undefined
}

export function buildApp(options: AppOptions): FastifyInstance {
  const { service, limits, log, metrics, collectMetrics, configuredToken } = options
  const underWay = new RequestsUnderWay()
  const isLogging = ['trace', 'debug', 'info'].includes(log.level)
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: requestIds(configuredToken),
    exposeHeadRoutes: false,
    bodyLimit,
    requestTimeout: 30_000,
    // Node looks for overdue requests at an interval of its own, by default as long as the time-out itself.
    http: {
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16 * 1024,
      // Node would refuse a request without one in a shape of its own.
      requireHostHeader: false,
    },
    // A request that still arrives on an open connection while we shut down is served, and its connection closed.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16 * 1024 },
    frameworkErrors: answerError,
    clientErrorHandler: (error, socket) => {
      const status = underWay.answerUnparsable(error, socket)
      if (status !== undefined) metrics.count('none', status)
    },
  })
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: method !== 'HEAD', overrideExisting: true })

  app.decorateRequest('caller', null)
  app.decorateRequest('operation', 'none')
  // Hooks with callbacks: they run for every request, and need no promise.
  app.addHook('onRequest', (request, reply, done) => {
    underWay.begin(reply, () => {
      reply.headers(standingHeaders(request.id))
      done(unservable(request))
    })
  })
  app.addHook('onResponse', (request, reply, done) => {
    metrics.count(request.operation, reply.statusCode, reply.elapsedTime / 1000)
    if (isLogging) logRequest(log, request, reply)
    done()
  })
  answerOddRequests(app.server)
  hangUpOnSlowReaders(app.server)
  acceptJson(app)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(answerNotFound)

  const authenticate = authenticator(service, limits)
  route(app, operations, service, authenticate)
  app.route({
    method: 'GET',
    url: '/metrics',
    onRequest: entry('metrics', (request, reply) => authenticate(request, reply, 'admin')),
    handler: async (_request, reply) => reply.type(metrics.registry.contentType).send(await collectMetrics()),
  })
  serveDocuments(app, operations, version)
  const others = ['/metrics', ...documentPaths].map((path) => ({ method: 'GET', path }))
  refuseOtherMethods(app, [...operations, ...others])
  return app
}

function unservable({ headers, raw, is404 }: FastifyRequest): ServiceError | undefined {
  if (headers.host === undefined && raw.httpVersion === '1.1')
    return new ServiceError('invalid_request', { message: 'The request has no Host header.' })
  // Before the body is read, as nobody will look at it.
  return is404 ? new ServiceError('not_found') : undefined
}

function logRequest(log: FastifyBaseLogger, request: FastifyRequest, reply: FastifyReply): void {
  const line = {
    request_id: request.id,
    operation: request.operation,
    status: reply.statusCode,
    duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
    team_id: request.caller?.teamId,
    api_token_id: request.caller?.id,
  }
  log.info(line, 'request')
}

function refuseOtherMethods(app: FastifyInstance, taken: readonly { method: string; path: string }[]): void {
  for (const [url, here] of Map.groupBy(taken, ({ path }) => path)) {
    const allowed = here.map(({ method }) => method).sort()
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url: routePath(url),
      onRequest: async () => {
        throw new ServiceError('method_not_allowed', { headers: { Allow: allowed.join(', ') } })
      },
      handler: answerNotFound,
    })
  }
}

/** Makes request ids. A caller's own is kept when it is one, and no secret in the wrong place. */
function requestIds(configuredToken: string | undefined): (request: IncomingMessage) => string {
  return ({ headers }) => {
    const given = headers['x-request-id']
    if (typeof given !== 'string' || !/^[\w.:-]{1,128}$/.test(given)) return randomUUID()
    const [, presentedToken = ''] = headers.authorization?.split(/ +/) ?? []
    const secrets = [presentedToken, configuredToken ?? ''].filter((secret) => secret !== '')
    const isSecret = tokenPattern.test(given) || secrets.some((secret) => given.includes(secret))
    return isSecret ? randomUUID() : given
  }
}
