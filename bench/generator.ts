// The load, in a process of its own: as fast as answers come (closed), or at a fixed rate (open).
import { setTimeout as pause } from 'node:timers/promises'
import { Connection } from './connection.ts'
import { requestsOf, type Workload } from './requests.ts'
import { quantile } from './statistics.ts'

export interface LoadOrder {
  url: string
  workload: Workload
  connections: number
  /** Each connection sends at least one request, even in none. */
  seconds: number
  /** Requests a second, sent whether or not answers come; without it, as fast as answers come. */
  rate?: number
  /** Seconds of an open load before what counts: a generator that is not compiled yet keeps requests waiting itself. */
  settling?: number
}

/** Milliseconds from when a request was due. */
export interface Latencies {
  p50: number
  p99: number
  /** Only of a thousand or more: of fewer it would be the slowest. */
  p999?: number
  /** How late the generator itself came to one in a hundred or more, which is no fault of the server's. */
  late: number
  samples: number
}

export interface LoadResult {
  requests: number
  /** Not answered, refused, or answered with something else than was asked for. */
  errors: number
  /** The first of these. */
  wrong?: string
  seconds: number
  /** How busy the generator itself was: near 1 it was the bottleneck. */
  busy: number
  /** Only of an open load. */
  latencies?: Latencies
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const connections = Array.from({ length: order.connections }, () => new Connection(new URL(order.url)))
  const next = requestsOf(order.workload)
  let requests = 0
  let errors = 0
  let wrong: string | undefined
  const exchange = async (connection: Connection) => {
    const { text, isRight } = next()
    const { ok, body } = await connection.send(text)
    requests += 1
    if (ok && isRight(body)) return
    errors += 1
    wrong ??= body.slice(0, 200) || 'nothing'
  }
  const cpu = process.cpuUsage()
  const began = performance.now()
  const counting = began + (order.settling ?? 0) * 1000
  const until = counting + order.seconds * 1000
  const latencies = order.rate === undefined ? await closed() : await open(order.rate)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  for (const connection of connections) connection.close()
  const busy = (user + system) / 1e6 / seconds
  return { requests, errors, seconds, busy, ...(wrong && { wrong }), ...(latencies && { latencies }) }

  async function closed(): Promise<undefined> {
    await Promise.all(
      connections.map(async (connection) => {
        do await exchange(connection)
        while (performance.now() < until)
      }),
    )
  }

  /** A request that finds all connections busy waits, and its waiting counts: nothing is left out of the figure. */
  async function open(rate: number): Promise<Latencies> {
    const times: number[] = []
    const late: number[] = []
    // In turn: one that is left unused for long is closed by the server, perhaps while we send on it.
    const idle = [...connections]
    const due: number[] = []
    const serve = async (connection: Connection) => {
      for (let at = due.shift(); at !== undefined; at = due.shift()) {
        await exchange(connection)
        if (at >= counting) times.push(performance.now() - at)
      }
      idle.push(connection)
    }
    let sent = 0
    while (performance.now() < until) {
      const now = performance.now()
      const target = Math.floor(((now - began) / 1000) * rate)
      for (; sent < target; sent++) {
        const at = began + ((sent + 1) / rate) * 1000
        due.push(at)
        if (at >= counting) late.push(now - at)
      }
      for (const connection of idle.splice(0, due.length)) void serve(connection)
      await pause(1)
    }
    while (due.length > 0 || idle.length < connections.length) await pause(1)
    return latenciesOf(times, late)
  }
}

function latenciesOf(times: readonly number[], late: readonly number[]): Latencies {
  const rounded = (values: readonly number[], share: number) => Number(quantile(values, share).toFixed(2))
  return {
    p50: rounded(times, 0.5),
    p99: rounded(times, 0.99),
    ...(times.length >= 1_000 && { p999: rounded(times, 0.999) }),
    late: rounded(late, 0.99),
    samples: times.length,
  }
}

process.on('message', async (order: LoadOrder) => process.send?.(await run(order)))
