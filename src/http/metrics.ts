import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { DatabaseStats } from '../store/database.ts'

/** No label ever holds an id or a token: operations and statuses are few, groups are many. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Counter<'operation' | 'status'>
  readonly #durations: Histogram<'operation'>

  constructor(databaseStats: () => DatabaseStats) {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Counter({
      name: 'ugs_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'],
      registers,
    })
    this.#durations = new Histogram({
      name: 'ugs_request_duration_seconds',
      help: 'Time from the first byte of a request to the last of its answer.',
      labelNames: ['operation'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    })
    let counted = 0
    new Counter({
      name: 'ugs_commits_total',
      help: 'Transactions committed.',
      registers,
      collect() {
        const { commits } = databaseStats()
        this.inc(commits - counted)
        counted = commits
      },
    })
    for (const state of ['connections', 'idle', 'waiting'] as const)
      new Gauge({
        name: `ugs_database_${state}`,
        help: {
          connections: 'Database connections open.',
          idle: 'Database connections that wait for work.',
          waiting: 'Pieces of work that wait for a database connection.',
        }[state],
        registers,
        collect() {
          this.set(databaseStats()[state])
        },
      })
  }

  count(operation: string, status: number, seconds?: number): void {
    this.#requests.inc({ operation, status })
    if (seconds !== undefined) this.#durations.observe({ operation }, seconds)
  }
}
