import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { createApiToken } from './api-tokens/create.ts'
import { listApiTokens } from './api-tokens/list.ts'
import { revokeApiToken } from './api-tokens/revoke.ts'
import { createDataSource } from './data-sources/create.ts'
import { deleteDataSource } from './data-sources/delete.ts'
import { getDataSource } from './data-sources/get.ts'
import { listDataSources } from './data-sources/list.ts'
import { updateDataSource } from './data-sources/update.ts'
import { listEvents } from './events/list.ts'
import { authenticator, type Limits } from './http/authenticate.ts'
import { documentRoutes } from './http/documents.ts'
import { type Exchange, requestIds } from './http/exchange.ts'
import { healthz, readyz } from './http/health.ts'
import type { Metrics } from './http/metrics.ts'
import { type Operation, type Route, routeOf } from './http/operation.ts'
import { Router } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
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
  log: Logger
  metrics: Metrics
  /** The figures of all processes that share the port, as Prometheus reads them. */
  collectMetrics: () => Promise<string>
  /** Of the operator's own form: only known by its value, when it turns up in the wrong place. */
  configuredToken?: string | undefined
}

export function buildApp(options: AppOptions): Server {
  const { service, limits, log, metrics, collectMetrics, configuredToken } = options
  const isLogging = log.isLevelEnabled('info')
  const scrape: Route = {
    ...{ id: 'metrics', method: 'GET', path: '/metrics', scope: 'admin', takesBody: false },
    answer: async () => ({ type: metrics.registry.contentType, content: await collectMetrics() }),
  }
  const routes = operations.map((operation) => routeOf(operation, service))
  return createHttpServer({
    router: new Router([...routes, scrape, ...documentRoutes(operations, version)]),
    authenticate: authenticator(service, limits),
    requestId: requestIds((text, authorization) => holdsSecret(text, authorization, configuredToken)),
    onArrived: () => service.memory.refresh(),
    log,
    onAnswered(status, exchange) {
      const seconds = exchange === undefined ? 0 : (performance.now() - exchange.began) / 1000
      metrics.count(exchange?.operation ?? 'none', status, seconds)
      if (isLogging && exchange !== undefined) logRequest(log, exchange, status, seconds)
    },
  })
}

function logRequest(log: Logger, { id, operation, caller }: Exchange, status: number, seconds: number): void {
  const line = {
    request_id: id,
    operation,
    status,
    duration_ms: Math.round(seconds * 1e6) / 1000,
    team_id: caller?.teamId,
    api_token_id: caller?.id,
  }
  log.info(line, 'request')
}

function holdsSecret(text: string, authorization: string, configuredToken: string | undefined): boolean {
  const [, presentedToken = ''] = authorization.split(/ +/)
  const secrets = [presentedToken, configuredToken ?? ''].filter((secret) => secret !== '')
  return tokenPattern.test(text) || secrets.some((secret) => text.includes(secret))
}
