// npm run bench: the service beside a bare server and its peers, in one run. See docs/performance.md.
import { writeFileSync } from 'node:fs'
import { circumstances } from './circumstances.ts'
import { measureFloors } from './floors.ts'
import { Generator } from './load.ts'
import { measure, type Subject } from './measure.ts'
import { readOptions } from './options.ts'
import { picture } from './picture.ts'
import { refuseUnfit } from './place.ts'
import type { Server } from './processes.ts'
import { progress } from './progress.ts'
import { type Results, report, titleOf } from './report.ts'
import type { Workload } from './requests.ts'
import { apiToken, type Filled, fillPostgres, fillSqlite, peers, startBare, startPeer } from './servers.ts'
import { populationOf, workloads } from './workloads.ts'

const { size, effort, parts, smoke, isWhole } = readOptions(process.argv.slice(2))
/** How much less of it once a server has been measured: what all requests have in common has been compiled. */
const warmed = 3

refuseUnfit(smoke)
const population = populationOf(size, effort.connections)
const results: Results = {
  ...circumstances(),
  ...population,
  effort,
  figures: [],
  notMeasured: {},
  fillSpeeds: {},
  settings: {},
  floors: [],
}

if (parts.some((part) => part !== 'floors')) await beside(await startBare())
if (parts.includes('floors'))
  await attempt('floors', async () => {
    results.floors = await measureFloors(size, 20_000)
  })
progress('')
process.stdout.write(report(results))
if (isWhole) {
  write('results.json', `${JSON.stringify(results, null, 2)}\n`)
  write('results.svg', picture(results.figures, titleOf(results)))
} else if (!smoke) process.stdout.write('bench/results.json and .svg are as they were: this was a part of the whole\n')
if (results.figures.some(({ errors }) => errors > 0)) process.exitCode = 1

async function beside(bare: Server): Promise<void> {
  try {
    await measureBare(bare)
    if (parts.includes('sqlite')) await measureEngine('SQLite', fillSqlite, bare)
    if (parts.includes('postgres')) await measureEngine('PostgreSQL', fillPostgres, bare)
    if (parts.includes('peers')) for (const name of peers) await measurePeer(name, bare)
  } finally {
    await bare.stop()
  }
}

/** Beside itself: how far that is from 1 is what the machine may add to any other ratio, and what a second process may. */
async function measureBare(bare: Server): Promise<void> {
  using generator = new Generator()
  const workload: Workload = { apiToken, name: 'bare server', operation: 'lookup', spread: population.hot }
  await add({ name: workload.name, server: bare, workers: 1, workload }, bare, generator, effort.warmUp / warmed)
  const pair = await startBare(2)
  try {
    const subject = { name: 'bare server, 2 processes', server: pair, workers: 2, workload }
    await add(subject, bare, generator, effort.warmUp / warmed)
  } finally {
    await pair.stop()
  }
}

async function measureEngine(engine: string, fill: (groups: number) => Promise<Filled>, bare: Server): Promise<void> {
  progress(`${engine}: filling it with ${population.filled} groups`)
  await attempt(engine, async () => {
    const filled = await fill(population.filled)
    results.fillSpeeds[engine] = filled.fillSpeed
    if (filled.settings) results.settings[engine] = filled.settings
    // One for all that is measured there: it knows which tokens it has rotated.
    using generator = new Generator()
    try {
      for (const workers of [1, 2]) await measureService(engine, workers, filled, bare, generator)
    } finally {
      await filled.remove()
    }
  })
}

async function measureService(
  engine: string,
  workers: number,
  { serve, pid }: Filled,
  bare: Server,
  generator: Generator,
): Promise<void> {
  const service = workers === 1 ? engine : `${engine}, ${workers} processes`
  await attempt(service, async () => {
    const server = await serve(workers)
    try {
      for (const [index, workload] of workloads(engine, workers, population).entries()) {
        const subject = { name: `${service}: ${workload.name}`, server, workers, databasePid: pid, workload }
        // V8 compiles what has been called often enough, and each process has its share of the calls.
        await add(subject, bare, generator, (effort.warmUp * workers) / (index === 0 ? 1 : warmed))
      }
    } finally {
      await server.stop()
    }
  })
}

async function measurePeer(name: (typeof peers)[number], bare: Server): Promise<void> {
  const peer = await startPeer(name).catch((reason: Error) => {
    results.notMeasured[`peer: ${name}`] = reason.message
  })
  if (peer === undefined) return
  using generator = new Generator()
  try {
    const workload: Workload = { name, operation: 'fixed', spread: population.hot, apiToken, fixed: peer.request }
    await add({ name: `peer: ${name}`, server: peer, workers: 1, workload }, bare, generator, effort.warmUp)
  } finally {
    await peer.stop()
  }
}

async function add(subject: Subject, bare: Server, generator: Generator, warmUp: number): Promise<void> {
  progress(subject.name)
  await attempt(subject.name, async () => {
    const figures = await measure(subject, bare, generator, { ...effort, warmUp })
    results.figures.push(figures)
    progress(`${figures.name}: ${figures.ratio.toFixed(2)} × bare`)
  })
}

/** What fails is told in the end, and the rest goes on. */
async function attempt(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    results.notMeasured[name] = (error as Error).message
    process.exitCode = 1
  }
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, import.meta.url), text)
}
