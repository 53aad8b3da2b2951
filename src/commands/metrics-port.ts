import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Route } from '../http/operation.ts'
import { Router } from '../http/router.ts'
import { createHttpServer } from '../http/server.ts'
import { OperatorError } from '../operator-error.ts'

interface MetricsPort {
  port: number
  close(): Promise<void>
}

const onlyMetrics = 'There is nothing on this port but /metrics.'

/** Twenty times a second is enough, however many ask. */
const gatherFor = 50

/** Serves /metrics without a token on a port of its own, when the settings ask for it. */
export async function serveMetrics(
  { metricsPort, host }: Config,
  contentType: string,
  collect: () => Promise<string>,
  log: Logger,
): Promise<MetricsPort | undefined> {
  if (metricsPort === undefined) return undefined
  const collectForAll = gathered(collect)
  const scrape: Route = {
    ...{ id: 'metrics', method: 'GET', path: '/metrics', scope: null, takesBody: false },
    answer: async () => ({ type: contentType, content: await collectForAll() }),
  }
  // With all the limits of the other port: it is the same process that would be held up, or run out of memory.
  const server = createHttpServer({
    router: new Router([scrape], onlyMetrics),
    authenticator: { admit: () => undefined, readmit: () => undefined },
    requestId: () => randomUUID(),
    onArrived() {},
    log,
    onAnswered() {},
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

/** Collects once for all who ask within a moment, and behind it: no figures are older than the question. */
function gathered(collect: () => Promise<string>): () => Promise<string> {
  let next: Promise<string> | undefined
  return () => {
    next ??= pause(gatherFor).then(() => {
      next = undefined
      return collect()
    })
    return next
  }
}
