// The load, in a process of its own: as fast as answers come (closed), or at a fixed rate (open).
import { setTimeout as pause } from 'node:timers/promises'
import { Connection } from './connection.ts'
import { requestsOf, type Workload } from './requests.ts'

export interface LoadOrder {
  url: string
  workload: Workload
  connections: number
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
  p999: number
  /** How late the generator itself came to one in a hundred or more, which is no fault of the server's. */
  late: number
}

export interface LoadResult {
  requests: number
  errors: number
  seconds: number
  /** How busy the generator itself was: near 1 it was the bottleneck. */
  busy: number
  /** Only of an open load. */
  latencies?: Latencies
}

async function run(order: LoadOrder): Promise<LoadResult> {
  const connections = Array.from({ length: order.connections }, () => new Connection(new URL(order.url)))
  const next = connections.map((_, index) => requestsOf(order.workload, index))
  let requests = 0
  let errors = 0
  const answered: (string | undefined)[] = []
  const exchange = async (index: number) => {
    const { ok, body } = (await connections[index]?.send(next[index]?.(answered[index]) ?? '')) ?? {
      ok: false,
      body: '',
    }
    answered[index] = body
    requests += 1
    if (!ok) errors += 1
  }
  const cpu = process.cpuUsage()
  const began = performance.now()
  const counting = began + (order.settling ?? 0) * 1000
  const until = counting + order.seconds * 1000
  const latencies = order.rate === undefined ? await closed() : await open(order.rate)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(cpu)
  for (const connection of connections) connection.close()
  return { requests, errors, seconds, busy: (user + system) / 1e6 / seconds, ...(latencies && { latencies }) }

  async function closed(): Promise<undefined> {
    await Promise.all(
      connections.map(async (_, index) => {
        while (performance.now() < until) await exchange(index)
      }),
    )
  }

  /** A request that finds all connections busy waits, and its waiting counts: nothing is left out of the figure. */
  async function open(rate: number): Promise<Latencies> {
    const times: number[] = []
    const late: number[] = []
    // In turn: one that is left unused for long is closed by the server, perhaps while we send on it.
    const idle = connections.map((_, index) => index)
    const due: number[] = []
    const serve = async (index: number) => {
      for (let at = due.shift(); at !== undefined; at = due.shift()) {
        await exchange(index)
        if (at >= counting) times.push(performance.now() - at)
      }
      idle.push(index)
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
      while (due.length > 0 && idle.length > 0) void serve(idle.shift() ?? 0)
      await pause(1)
    }
    while (due.length > 0 || idle.length < connections.length) await pause(1)
    return {
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      p999: quantile(times, 0.999),
      late: quantile(late, 0.99),
    }
  }
}

/** The value that a share of them is below. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return Number((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(2))
}

process.on('message', async (order: LoadOrder) => {
  const result = await run(order)
  process.send?.(result, () => process.disconnect?.())
})
