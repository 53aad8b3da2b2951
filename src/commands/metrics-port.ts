import { createServer } from 'node:http'
import type { Config } from '../config.ts'
import { OperatorError } from '../operator-error.ts'

/** Serves /metrics without a token on a port of its own, when the settings ask for it. Returns how to stop it. */
export async function serveMetrics(
  { metricsPort, host }: Config,
  contentType: string,
  collect: () => Promise<string>,
): Promise<() => Promise<void>> {
  if (metricsPort === undefined) return async () => {}
  const server = createServer(async (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end()
      return
    }
    try {
      const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
      response.writeHead(200, headers).end(await collect())
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
  return () =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
}
