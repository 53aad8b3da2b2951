import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { API } from 'typescript/unstable/sync'
import { seeded } from '../campaigns/random.ts'
import { fittingTests, mutated } from './fitting-tests.ts'
import { apply, type Mutant, mutantsOf } from './mutants.ts'
import { createWorkbench, type Workbench } from './workbench.ts'

const usage = `Usage: npm run mutate -- [options]

Changes one small thing at a time in a copy of the source, and sees whether the fitting tests notice.

  --sample <n>   so many of the possible changes, spread over all files (default: every one)
  --seed <n>     repeats a choice (default: a new one, which is printed)
  --only <path>  only in files whose path begins so: src/store/events.ts
  --tests <glob> other tests than those of scripts/fitting-tests.ts
`

const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string', default: 'src/' },
    tests: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) {
  process.stdout.write(usage)
  process.exit()
}

const root = fileURLToPath(new URL('../', import.meta.url))
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
const all = possibleMutants()
const chosen = sample(all, Number(values.sample ?? all.length))
if (!(chosen.length > 0)) {
  process.stderr.write(`There is nothing to change in ${values.only}, or --sample is not a whole number above 0.\n`)
  process.exit(2)
}
process.stderr.write(`${chosen.length} of ${all.length} mutants, seed ${seed}\n`)

interface Result {
  mutant: Mutant
  killedBy: string | undefined
}

const results: Result[] = []
const waiting = [...chosen]
const times = new Map<string, Promise<number>>()
const lastKiller = new Map<string, string>()
const benches = Array.from({ length: Math.min(2, availableParallelism(), chosen.length) }, () => createWorkbench(root))
let stopped = false
process.once('SIGINT', stop).once('SIGTERM', stop)
try {
  await Promise.all(benches.map(work))
} finally {
  stop()
  await Promise.all(benches.map((bench) => bench.remove()))
}
report()

function possibleMutants(): Mutant[] {
  const api = new API({ cwd: root })
  const config = join(root, 'tsconfig.build.json')
  const program = api.updateSnapshot({ openProjects: [config] }).getProject(config)?.program
  const files = globSync(`${mutated}/**/*.ts`, { cwd: root, exclude: ['**/*.test.ts'] })
    .filter((file) => file.startsWith(values.only))
    .sort()
  const mutants = files.flatMap((file) => {
    const source = program?.getSourceFile(join(root, file))
    if (source === undefined) throw new Error(`TypeScript does not know ${file}`)
    return mutantsOf(file, source).filter((mutant) => isProgram(apply(mutant, source.text)))
  })
  api.close()
  return mutants
}

function isProgram(text: string): boolean {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}

/**
 * One out of each of so many stretches of equal length: by chance, and yet spread over all files. In an order by chance
 * too, so that what is tried before somebody stops the run is spread as well.
 */
function sample(mutants: readonly Mutant[], size: number): Mutant[] {
  const random = seeded(seed)
  const stretch = Math.max(1, mutants.length / size)
  return Array.from({ length: Math.min(size, mutants.length) }, (_, index) => Math.floor((index + random()) * stretch))
    .map((index) => ({ mutant: mutants[index], place: random() }))
    .sort((one, other) => one.place - other.place)
    .flatMap(({ mutant }) => mutant ?? [])
}

/** Reports what is known by then. */
function stop(): void {
  stopped = true
  waiting.length = 0
  for (const bench of benches) bench.stop()
}

async function work(bench: Workbench): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const killedBy = await firstKiller(mutant, bench).catch(unlessStopped)
    if (stopped) return
    if (killedBy !== undefined) lastKiller.set(mutant.file, killedBy)
    results.push({ mutant, killedBy })
    progress(mutant, killedBy)
  }
}

/** The signal that stopped us has reached PostgreSQL too, so that anything may have failed. */
function unlessStopped(error: unknown): undefined {
  if (!stopped) throw error
}

async function firstKiller(mutant: Mutant, bench: Workbench): Promise<string | undefined> {
  const original = readFileSync(join(root, mutant.file), 'utf8')
  const change = { file: mutant.file, text: apply(mutant, original), original }
  for (const test of testsOf(mutant.file)) {
    if (stopped) return undefined
    const patience = 5000 + 4 * (await usualTime(test, bench))
    if ((await bench.run({ test, change, patience })) !== 'passed') return test
  }
  return undefined
}

/** What noticed the last mutant of a file is the likeliest to notice the next. */
function testsOf(file: string): string[] {
  const tests = fittingTests(file, root, values.tests)
  const likeliest = lastKiller.get(file)
  return likeliest === undefined ? tests : [likeliest, ...tests.filter((test) => test !== likeliest)]
}

/** How long a test takes on the source as it is; one that fails there would notice everything. */
function usualTime(test: string, bench: Workbench): Promise<number> {
  const known = times.get(test) ?? measure(test, bench)
  times.set(test, known)
  return known
}

async function measure(test: string, bench: Workbench): Promise<number> {
  const began = performance.now()
  const outcome = await bench.run({ test, patience: 300_000 })
  if (outcome !== 'passed' && !stopped) throw new Error(`${test} ${outcome} without a change`)
  return performance.now() - began
}

function progress({ file, line, change }: Mutant, killedBy: string | undefined): void {
  const survived = results.filter((result) => result.killedBy === undefined).length
  const count = `${results.length} of ${chosen.length}, ${survived} survived`
  const fate = killedBy === undefined ? 'survived' : `killed by ${killedBy}`
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${count}` : `${count}: ${file}:${line}  ${change}: ${fate}\n`)
}

function report(): void {
  const files = [...new Set(results.map(({ mutant }) => mutant.file))].sort()
  const rows = [...files, ...(results.length > 0 ? ['all'] : [])].map((file) => {
    const its = results.filter(({ mutant }) => file === 'all' || mutant.file === file)
    const killed = its.filter(({ killedBy }) => killedBy !== undefined).length
    return [file, its.length, killed, its.length - killed, `${((killed / its.length) * 100).toFixed(0)} %`]
  })
  const lines = [['file', 'mutants', 'killed', 'survived', 'score'], ...rows]
  const widths = lines[0]?.map((_, column) => Math.max(...lines.map((cells) => String(cells[column]).length))) ?? []
  const aligned = (cell: string | number, column: number) =>
    column === 0 ? String(cell).padEnd(widths[column] ?? 0) : String(cell).padStart(widths[column] ?? 0)
  const survivors = results
    .filter(({ killedBy }) => killedBy === undefined)
    .map(({ mutant }) => `${mutant.file}:${mutant.line}  ${mutant.change}`)
  const parts = [
    lines.map((cells) => cells.map(aligned).join('  ')),
    survivors.length > 0 ? ['', 'Survived:', ...survivors.sort()] : [],
    ['', `${results.length} of ${all.length} mutants, seed ${seed}`],
  ]
  process.stdout.write(`${parts.flat().join('\n')}\n`)
}
