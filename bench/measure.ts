import assert from 'node:assert/strict'
import type { Latencies } from './generator.ts'
import type { Generator } from './load.ts'
import { cpuMicroseconds, residentMegabytes, type Server } from './processes.ts'
import type { Workload } from './requests.ts'
import { median } from './statistics.ts'
import { loadByWrk, wrkCan } from './wrk.ts'

export interface Figures {
  name: string
  /** Who sent what was counted, to the bare server too; latencies are always by our own. */
  generator: 'wrk' | 'own'
  /** Server CPU time per request, in microseconds, and how many times that of the bare server in the same rounds. */
  cpu: number
  bareCpu: number
  ratio: number
  /** CPU time of the database's own processes per request, where it has any. */
  databaseCpu?: number
  perSecond: number
  /** How many cores the server used meanwhile. */
  cores: number
  latencies: Latencies
  megabytes: number
  errors: number
  generatorWasBottleneck: boolean
  generatorWasLate: boolean
  /** Only of reads: writes wait for the disk. */
  serverWasNotSaturated: boolean
}

export interface Effort {
  rounds: number
  seconds: number
  warmUp: number
  connections: number
  /** How many latencies are wanted, within a limit of time. */
  samples: number
}

export interface Subject {
  name: string
  server: Server
  workers: number
  /** The first process of a database that has processes of its own. */
  databasePid?: number | undefined
  workload: Workload
}

type Round = Record<'cpu' | 'bareCpu' | 'ratio' | 'databaseCpu' | 'cores' | 'perSecond' | 'busy', number>

/** It has little to compile. */
const bareWarmUpSeconds = 4

/** After some idle minutes it takes seconds to be as fast as it was. */
const staysWarmMilliseconds = 30_000
let bareWasLoaded = Number.NEGATIVE_INFINITY

/** So has the generator of an open load. */
const settlingSeconds = 3

/** Of an open load, however few requests come. */
const longestSeconds = 10

/** The generator looks for what is due every millisecond; undisturbed, it comes two late to one in a hundred. */
const toleratedMilliseconds = 4

/** Rounds alternate between the server and the bare one, so that a noisy neighbour disturbs both; the median counts. */
export async function measure(
  { name, server, workers, databasePid, workload }: Subject,
  bare: Server,
  own: Generator,
  { rounds, seconds, warmUp, connections, samples }: Effort,
): Promise<Figures> {
  const generator = wrkCan(workload, seconds, warmUp) ? 'wrk' : 'own'
  let errors = 0
  const load = async (target: Server, what: Workload, length = seconds) => {
    const order = { url: target.url, workload: what, connections, seconds: length }
    const [before, databaseBefore] = [cpuMicroseconds(target.pid), databaseCpu()]
    const result = await (generator === 'wrk' ? loadByWrk(order) : own.load(order))
    const used = cpuMicroseconds(target.pid) - before
    errors += result.errors
    return {
      cpu: used / result.requests,
      databaseCpu: (databaseCpu() - databaseBefore) / result.requests,
      cores: used / 1e6 / result.seconds,
      perSecond: result.requests / result.seconds,
      busy: result.busy,
    }
  }
  const databaseCpu = () => (databasePid === undefined ? 0 : cpuMicroseconds(databasePid))
  const bareWorkload: Workload = { ...workload, operation: 'lookup' }

  const { wrong } = await own.load({ url: server.url, workload, connections: 1, seconds: 0 })
  if (wrong !== undefined) throw new Error(`the first request was answered with ${wrong}`)
  // Until V8 has compiled what is hot: a server runs for days.
  await load(server, workload, warmUp)
  if (performance.now() - bareWasLoaded > staysWarmMilliseconds)
    await load(bare, bareWorkload, Math.min(warmUp, bareWarmUpSeconds))
  const results: Round[] = []
  for (let round = 0; round < rounds; round++) {
    const { cpu: bareCpu } = await load(bare, bareWorkload)
    bareWasLoaded = performance.now()
    const result = await load(server, workload)
    results.push({ ...result, bareCpu, ratio: result.cpu / bareCpu })
  }
  const of = (key: keyof Round, digits = 0) => Number(median(results.map((result) => result[key])).toFixed(digits))
  const rate = Math.max(1, of('perSecond') / 2)
  const open = await own.load({
    url: server.url,
    workload,
    connections,
    seconds: Math.max(seconds, Math.min(samples / rate, longestSeconds)),
    rate,
    settling: Math.min(warmUp, settlingSeconds),
  })
  assert.ok(open.latencies)
  const cores = of('cores', 2)
  const isRead = !['create', 'rotate', 'mix'].includes(workload.operation)
  return {
    name,
    generator,
    cpu: of('cpu', 1),
    bareCpu: of('bareCpu', 1),
    ratio: of('ratio', 2),
    ...(databasePid !== undefined && { databaseCpu: of('databaseCpu', 1) }),
    perSecond: of('perSecond'),
    cores,
    latencies: open.latencies,
    megabytes: residentMegabytes(server.pid),
    errors: errors + open.errors,
    generatorWasBottleneck: of('busy', 2) > 0.95,
    generatorWasLate: open.latencies.late > toleratedMilliseconds,
    serverWasNotSaturated: isRead && cores < 0.9 * workers,
  }
}
