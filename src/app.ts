import type { Server } from 'node:http'
import type { Logger } from 'pino'
import { ServiceError } from './errors.ts'
import { authenticator, type Limits, presentedToken } from './http/authenticate.ts'
import { documentRoutes } from './http/documents.ts'
import { type Exchange, requestIds } from './http/exchange.ts'
import type { Metrics } from './http/metrics.ts'
import { type Route, routeOf } from './http/operation.ts'
import { Router } from './http/router.ts'
import { createHttpServer } from './http/server.ts'
import { operations } from './operations.ts'
import type { Service } from './service.ts'
import { tokenPattern } from './tokens/format.ts'
import { version } from './version.ts'

interface AppOptions {
  service: Service
  limits: Limits
  log: Logger
  metrics: Metrics
  /** The figures of all processes that share the port, as Prometheus reads them. */
  collectMetrics: () => Promise<string>
  /** It may have any form: where it turns up in the wrong place, only its value gives it away. */
  configuredToken?: string | undefined
}

/** The first, whose API token comes with the start. */
const operatorsTeam = 1
const notTheirs = 'The figures are those of all teams; they are for API tokens of the first team.'

export function buildApp(options: AppOptions): Server {
  const { service, limits, log, metrics, collectMetrics, configuredToken } = options
  const isLogging = log.isLevelEnabled('info')
  const scrape: Route = {
    ...{ id: 'metrics', method: 'GET', path: '/metrics', scope: 'admin', takesBody: false },
    async answer({ caller }) {
      if (caller?.teamId !== operatorsTeam) throw new ServiceError('insufficient_scope', { message: notTheirs })
      return { type: metrics.registry.contentType, content: await collectMetrics() }
    },
  }
  const routes = operations.map((operation) => routeOf(operation, service))
  return createHttpServer({
    router: new Router([...routes, scrape, ...documentRoutes(operations, version)]),
    authenticator: authenticator(service, limits),
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
  const secrets = [presentedToken(authorization), configuredToken ?? ''].filter((secret) => secret !== '')
  return tokenPattern.test(text) || secrets.some((secret) => text.includes(secret))
}
