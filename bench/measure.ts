import type { Latencies } from './generator.ts'
import { load } from './load.ts'
import { cpuMicroseconds, residentMegabytes, type Server } from './processes.ts'
import type { Workload } from './requests.ts'

export interface Figures {
  name: string
  /** Server CPU time per request, in microseconds, and how many times that of the bare server in the same rounds. */
  cpu: number
  ratio: number
  perSecond: number
  latencies: Latencies
  megabytes: number
  errors: number
  generatorWasBottleneck: boolean
  generatorWasLate: boolean
}

export interface Effort {
  rounds: number
  seconds: number
  warmUp: number
  connections: number
}

/** Seconds: it has little to compile. */
const bareWarmUp = 4

/** Seconds: so has the generator of an open load. */
const settling = 3

/** Milliseconds. It looks for what is due every one of them; undisturbed, it comes two late to one in a hundred. */
const tolerated = 4

/** Rounds alternate between the server and the bare one, so that a noisy neighbour disturbs both; the median counts. */
export async function measure(
  name: string,
  server: Server,
  bare: Server,
  workload: Workload,
  effort: Effort,
  progress: (text: string) => void,
): Promise<Figures> {
  const { rounds, seconds, warmUp, connections } = effort
  const once = async (target: Server, what: Workload, length = seconds) => {
    const before = cpuMicroseconds(target.pid)
    const result = await load({ url: target.url, workload: what, connections, seconds: length })
    return { ...result, cpu: (cpuMicroseconds(target.pid) - before) / result.requests }
  }
  const bareWorkload: Workload = { ...workload, operation: 'lookup' }
  // Until V8 has compiled what is hot: a server runs for days.
  await once(server, workload, warmUp)
  // Each time: after some idle minutes it takes seconds to be as fast as it was.
  await once(bare, bareWorkload, Math.min(warmUp, bareWarmUp))
  const results = []
  for (let round = 1; round <= rounds; round++) {
    progress(`${name}: round ${round} of ${rounds}`)
    const floor = await once(bare, bareWorkload)
    const own = await once(server, workload)
    results.push({ ...own, ratio: own.cpu / floor.cpu })
  }
  const perSecond = median(results.map((result) => result.requests / result.seconds))
  progress(`${name}: latencies at half of the load`)
  const rate = Math.max(1, perSecond / 2)
  const open = await load({
    url: server.url,
    workload,
    connections,
    seconds,
    rate,
    settling: Math.min(warmUp, settling),
  })
  const latencies = open.latencies ?? { p50: 0, p99: 0, p999: 0, late: 0 }
  return {
    name,
    cpu: Number(median(results.map((result) => result.cpu)).toFixed(1)),
    ratio: Number(median(results.map((result) => result.ratio)).toFixed(2)),
    perSecond: Math.round(perSecond),
    latencies,
    megabytes: residentMegabytes(server.pid),
    errors: results.reduce((sum, result) => sum + result.errors, open.errors),
    generatorWasBottleneck: median(results.map((result) => result.busy)) > 0.95,
    generatorWasLate: latencies.late > tolerated,
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}
