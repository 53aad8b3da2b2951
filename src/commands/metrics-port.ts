import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { ServiceError } from '../errors.ts'
import { standingHeaders } from '../http/exchange.ts'
import { asFailure, lastAnswer, loggable } from '../http/failure.ts'
import { createServer } from '../http/node-http.ts'
import { OperatorError } from '../operator-error.ts'

export interface MetricsPort {
  port: number
  close(): Promise<void>
}

const onlyMetrics = 'There is nothing on this port but /metrics.'

/** Serves /metrics without a token on a port of its own, when the settings ask for it. */
export async function serveMetrics(
  { metricsPort, host }: Config,
  contentType: string,
  collect: () => Promise<string>,
  log: Logger,
): Promise<MetricsPort | undefined> {
  if (metricsPort === undefined) return undefined
  const server = createServer(async ({ url, method }, response) => {
    const refuse = (failure: ServiceError) => {
      const { headers, body } = lastAnswer(failure)
      response.writeHead(failure.status, headers).end(body)
    }
    if (!/^\/metrics\/?(\?|$)/.test(url ?? '')) return refuse(new ServiceError('not_found', { message: onlyMetrics }))
    if (method !== 'GET') return refuse(new ServiceError('method_not_allowed', { headers: { Allow: 'GET' } }))
    try {
      const figures = await collect()
      response.writeHead(200, standingHeaders(randomUUID(), contentType, Buffer.byteLength(figures))).end(figures)
    } catch (error) {
      const failure = asFailure(error)
      log.error({ failure: loggable(failure) }, failure.code)
      refuse(failure)
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new OperatorError(`Cannot listen on ${host} port ${metricsPort}.`, 'Set UGS_METRICS_PORT to another.', error),
      ),
    )
    server.listen(metricsPort, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
