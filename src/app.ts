import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS } from 'node:http'
import fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { ServiceError } from './errors.ts'
import { authenticator, type Limits } from './http/authenticate.ts'
import { acceptJson, bodyLimit } from './http/body.ts'
import { RequestsUnderWay, tendConnections } from './http/connections.ts'
import { answerError, answerNotFound, standingHeaders } from './http/error-handler.ts'
import { healthz, readyz } from './http/health.ts'
import type { Metrics } from './http/metrics.ts'
import { type Operation, route } from './http/operation.ts'
import type { Service } from './service.ts'
import { tokenPattern } from './tokens/format.ts'
import { getOrCreate, getOrCreateByPost } from './user-groups/get-or-create.ts'
import { rotateToken } from './user-groups/rotate-token.ts'

/** Every operation there is. Routes, metrics, logs and the tests that cover all operations come from this list. */
export const operations: readonly Operation[] = [getOrCreate, rotateToken, getOrCreateByPost, healthz, readyz]

export interface AppOptions {
  service: Service
  limits: Limits
  log: FastifyBaseLogger
  metrics: Metrics
  /** The figures of all processes that share the port, as Prometheus reads them. */
  collectMetrics: () => Promise<string>
}

export function buildApp({ service, limits, log, metrics, collectMetrics }: AppOptions): FastifyInstance {
  const underWay = new RequestsUnderWay()
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: requestId,
    exposeHeadRoutes: false,
    bodyLimit,
    requestTimeout: 30_000,
    // Node looks for overdue requests at an interval of its own, by default as long as the time-out itself.
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    // A request that still arrives on an open connection while we shut down is served, and its connection closed.
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096 },
    frameworkErrors: answerError,
    clientErrorHandler: (error, socket) => {
      const status = underWay.answerUnparsable(error, socket)
      if (status !== undefined) metrics.count('none', status)
    },
  })
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: method !== 'HEAD', overrideExisting: true })

  app.decorateRequest('caller', null)
  app.addHook('onRequest', async (request, reply) => {
    underWay.begin(reply)
    reply.headers(standingHeaders(request.id))
  })
  app.addHook('onResponse', async (request, reply) => {
    const operation = request.routeOptions.config.operation ?? 'none'
    metrics.count(operation, reply.statusCode, reply.elapsedTime / 1000)
    log.info(
      {
        request_id: request.id,
        operation,
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
        team_id: request.caller?.teamId,
        api_token_id: request.caller?.id,
      },
      'request',
    )
  })
  tendConnections(app)
  acceptJson(app)
  app.setErrorHandler(answerError)
  app.setNotFoundHandler(answerNotFound)

  const authenticate = authenticator(service, limits)
  route(app, operations, service, authenticate)
  app.route({
    method: 'GET',
    url: '/metrics',
    config: { operation: 'metrics' },
    onRequest: (request, reply) => authenticate(request, reply, 'admin'),
    handler: async (_request, reply) => reply.type(metrics.registry.contentType).send(await collectMetrics()),
  })
  refuseOtherMethods(app, [...operations, { method: 'GET', path: '/metrics' }])
  return app
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: string
  }
}

function refuseOtherMethods(app: FastifyInstance, taken: readonly { method: string; path: string }[]): void {
  for (const [url, here] of Map.groupBy(taken, ({ path }) => path)) {
    const allowed = here.map(({ method }) => method).sort()
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url,
      onRequest: async () => {
        throw new ServiceError('method_not_allowed', { headers: { Allow: allowed.join(', ') } })
      },
      handler: answerNotFound,
    })
  }
}

/** A caller's own request id is kept when it is one, and no secret in the wrong place. */
function requestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id']
  const isSane = typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) && !tokenPattern.test(given)
  return isSane && !headers.authorization?.includes(given) ? given : randomUUID()
}
