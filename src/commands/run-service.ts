import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Logger, pino } from 'pino'
import { buildApp } from '../app.ts'
import { isoTime } from '../clock.ts'
import type { Config } from '../config.ts'
import { keepHistoryShort } from '../history.ts'
import { Metrics } from '../http/metrics.ts'
import { OperatorError } from '../operator-error.ts'
import { openService, type Service } from '../service.ts'
import { withoutTokens } from '../tokens/format.ts'
import { version } from '../version.ts'
import { addressOf, banner } from './banner.ts'
import { explain, explanation } from './explain.ts'
import { firstTeam, type Prepared } from './first-team.ts'
import { LogOutput, toStandardOutput } from './log-output.ts'
import { serveMetrics } from './metrics-port.ts'
import { onStopSignal } from './stop-signal.ts'
import { supervise } from './supervise.ts'
import { say } from './terminal.ts'
import { askSupervisor, reportFailure } from './worker.ts'

const patience = 10_000

/** Runs until a signal ends it: alone, or as one of several processes on one port. */
export async function runService(config: Config): Promise<void> {
  process.on('uncaughtException', endWithStack)
  if (config.workers === 1) return serveAlone(config)
  if (cluster.isPrimary) return serveTogether(config)
  return serveAsWorker(config).catch(reportFailure)
}

async function serveAlone(config: Config): Promise<void> {
  const { service, log } = await open(config)
  const prepared = await firstTeam(service, config)
  const metrics = new Metrics(() => service.store.stats())
  const collectMetrics = () => metrics.registry.metrics()
  const app = buildApp({ service, limits: config, log, metrics, collectMetrics, configuredToken: config.apiToken })
  const { port } = await listen(app, config)
  const metricsPort = await serveMetrics(config, metrics.registry.contentType, collectMetrics, log)
  const first = await prepared()
  const stopPruning = prune(service, config, log)
  onStopSignal(async () => {
    stopPruning()
    await close(app, service)
    await metricsPort?.close()
  })
  // Last of all: whoever reads it may send a signal at once.
  greet(config, first, port, metricsPort?.port)
}

/** The first process migrates, greets and keeps the others alive; it serves no request itself. */
async function serveTogether(config: Config): Promise<void> {
  const { service, log } = await open(config)
  const prepared = await firstTeam(service, config)
  const workers = supervise(config.workers, log)
  const port = await workers.listening
  const metricsPort = await serveMetrics(config, workers.metricsContentType, workers.collectMetrics, log)
  const first = await prepared()
  await service.store.close()
  onStopSignal(async () => {
    await workers.stop()
    await metricsPort?.close()
  })
  greet(config, first, port, metricsPort?.port)
}

async function serveAsWorker(config: Config): Promise<void> {
  const { service, log } = await open(config)
  const metrics = new Metrics(() => service.store.stats())
  const { collectMetrics, stopped } = askSupervisor(metrics.registry)
  const app = buildApp({ service, limits: config, log, metrics, collectMetrics, configuredToken: config.apiToken })
  await listen(app, config)
  const stopPruning = prune(service, config, log)
  const stop = () => {
    stopPruning()
    return close(app, service)
  }
  onStopSignal(stop, stopped)
}

function prune(service: Service, { eventRetentionDays }: Config, log: Logger): () => void {
  return keepHistoryShort(service, eventRetentionDays, {
    forgot: (count, before) =>
      log.info({ count, before: isoTime(before) }, 'old events and rotated tokens were deleted'),
    failed: (error) =>
      log.warn({ reason: explanation(error).sentence }, 'old events could not be deleted; trying again in an hour'),
  })
}

async function open(config: Config) {
  const output = new LogOutput(toStandardOutput(), (lines) => log.warn({ lines }, 'log lines were lost'))
  const log = pino(
    { level: config.logLevel, base: { pid: process.pid }, formatters: { level: (level) => ({ level }) } },
    output,
  )
  const service = await openService(config, {
    bringsKey: true,
    onConnectionError: (error) => log.warn({ reason: error.message }, 'database connection lost'),
    // The supervisor has looked for all of its workers.
    ...(cluster.isPrimary && { check: 'quick' }),
  })
  return { service, log }
}

async function listen(app: Server, { host, port }: Config): Promise<AddressInfo> {
  try {
    app.listen({ host, port })
    await once(app, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new OperatorError(
      `Cannot listen on ${host} port ${port} (${code}).`,
      code === 'EADDRINUSE' ? 'Stop what uses the port, or set PORT to another.' : 'Check HOST and PORT.',
      error,
    )
  }
  return app.address() as AddressInfo
}

function greet(
  { host, database }: Config,
  { team, freshToken, warnings }: Prepared,
  port: number,
  metricsPort: number | undefined,
): void {
  say(
    banner({
      version,
      host,
      address: addressOf(host, port),
      metrics: metricsPort === undefined ? undefined : `${addressOf(host, metricsPort)}/metrics`,
      database: database.engine === 'sqlite' ? `SQLite, ${database.path}` : 'PostgreSQL',
      team,
      freshToken,
    }),
  )
  for (const warning of warnings) say(`Warning: ${warning}`)
}

/** Finishes what is under way, ten seconds at most, and closes the database after it. */
async function close(app: Server, service: Service): Promise<void> {
  const hangUp = setTimeout(() => app.closeAllConnections(), patience)
  // Closes idle connections too; the others are told with their answer.
  const closed = once(app, 'close')
  app.close()
  await closed
  clearTimeout(hangUp)
  await service.store.close()
}

function endWithStack(error: Error): never {
  // A worker whose supervisor is gone has nobody to talk to, and ends too.
  if (cluster.isWorker && (error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(1)
  // Where it happened, as only a fault of ours comes here.
  say(withoutTokens(error.stack ?? ''))
  say(explain(error))
  process.exit(1)
}
