import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import type { DatabaseStats } from '../store/database.ts'

const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What one operation has done so far, in plain numbers: a request costs a few additions, a scrape the rest. */
class Tally {
  readonly statuses = new Map<number, number>()
  readonly counts = new Array<number>(buckets.length + 1).fill(0)
  seconds = 0

  add(status: number, seconds: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const at = buckets.findIndex((bucket) => seconds <= bucket)
    const index = at < 0 ? buckets.length : at
    this.counts[index] = (this.counts[index] ?? 0) + 1
    this.seconds += seconds
  }
}

/** No label ever holds an id or a token: operations and statuses are few, groups are many. */
export class Metrics {
  readonly registry = new Registry()
  readonly #tallies = new Map<string, Tally>()

  constructor(databaseStats: () => DatabaseStats) {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.#register('ugs_requests_total', 'counter', 'Requests answered, by operation and status.', (operation, tally) =>
      [...tally.statuses].map(([status, value]) => ({ value, labels: { operation, status } })),
    )
    this.#register(
      'ugs_request_duration_seconds',
      'histogram',
      'Time from when the headers of a request have come until its answer is handed to the system.',
      durations,
    )
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

  count(operation: string, status: number, seconds: number): void {
    let tally = this.#tallies.get(operation)
    if (tally === undefined) {
      tally = new Tally()
      this.#tallies.set(operation, tally)
    }
    tally.add(status, seconds)
  }

  #register(name: string, type: string, help: string, values: (operation: string, tally: Tally) => Sample[]): void {
    const get = async () => ({
      name,
      help,
      type,
      aggregator: 'sum',
      values: [...this.#tallies].flatMap(([operation, tally]) => values(operation, tally)),
    })
    this.registry.registerMetric({ name, get } as unknown as Metric)
  }
}

interface Sample {
  value: number
  labels: Record<string, string | number>
  metricName?: string
}

function durations(operation: string, { counts, seconds }: Tally): Sample[] {
  const name = 'ugs_request_duration_seconds'
  let sum = 0
  const cumulative = counts.map((count, index) => {
    sum += count
    return { metricName: `${name}_bucket`, value: sum, labels: { le: buckets[index] ?? '+Inf', operation } }
  })
  return [
    ...cumulative,
    { metricName: `${name}_sum`, value: seconds, labels: { operation } },
    { metricName: `${name}_count`, value: sum, labels: { operation } },
  ]
}
