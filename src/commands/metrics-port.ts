import type { AddressInfo } from 'node:net'
import type { Config } from '../config.ts'
import { createServer } from '../http/node-http.ts'
import { OperatorError } from '../operator-error.ts'

export interface MetricsPort {
  port: number
  close(): Promise<void>
}

/** Serves /metrics without a token on a port of its own, when the settings ask for it. */
export async function serveMetrics(
  { metricsPort, host }: Config,
  contentType: string,
  collect: () => Promise<string>,
): Promise<MetricsPort | undefined> {
  if (metricsPort === undefined) return undefined
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    try {
      const figures = await collect()
      const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
      response.writeHead(200, headers).end(figures)
    } catch {
      response.writeHead(503).end()
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
