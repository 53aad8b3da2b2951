import { parseArgs } from 'node:util'
import { engines } from '../test/support/engines.ts'
import { createPostgres } from '../test/support/postgres-server.ts'
import type { Environment } from '../test/support/service-process.ts'
import { campaigns } from './all.ts'
import type { Bug, Campaign } from './campaign.ts'
import { seeded } from './random.ts'
import { rewriting } from './rewriting.ts'

const usage = `Usage: npm run prove:<campaign> -- [options]

  --size <n>    how much of it; "full" is the size of the published result (default: the brief one)
  --seed <n>    repeats a run (default: a new one, which is printed)
  --bug <name>  plants a bug in the service first; the campaign must then fail

It exits with 1 when the promise is broken, and with 3 when this machine lacks what it needs to try.

Campaigns: ${Object.keys(campaigns).join(', ')}
`

const { values, positionals } = readArguments()
const [name = ''] = positionals
const campaign = await campaigns[name]?.()
if (campaign === undefined || values.help) {
  process.stderr.write(usage)
  process.exit(values.help ? 0 : 2)
}

const size = chosenSize(campaign)
const bug = chosenBug(campaign)
const lacking = campaign.lacks?.() ?? bug?.lacks?.()
if (lacking !== undefined) {
  process.stdout.write(`${name}: proved nothing, as ${lacking}\n`)
  process.exit(3)
}
const seed = chosenSeed()
const postgres = process.env.TEST_POSTGRES_URL === undefined ? await createPostgres() : undefined
const began = performance.now()
process.stderr.write(`${campaign.promise}\n${size} ${campaign.unit}, seed ${seed}\n`)
try {
  await postgres?.start()
  if (postgres) process.env.TEST_POSTGRES_URL = postgres.url
  const figure = await campaign.run({
    ...{ size, random: seeded(seed), environment: planted(bug), progress },
    engines: engines.filter(({ name }) => name === (bug?.on ?? name)),
  })
  endLine()
  process.stdout.write(`${name}: ${figure} (${seconds()} s, seed ${seed})\n`)
} catch (error) {
  endLine()
  process.stdout.write(`${name}: BROKEN after ${seconds()} s, seed ${seed}: ${(error as Error).message}\n`)
  process.stderr.write(`${(error as Error).stack}\n`)
  process.exitCode = 1
} finally {
  await postgres?.remove()
}
// A campaign that failed half-way may have left sockets open.
process.exit()

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        size: { type: 'string' },
        seed: { type: 'string' },
        bug: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    refuse((error as Error).message.replace(/\.?$/, '.'))
  }
}

function refuse(reason: string): never {
  process.stderr.write(`${reason} See npm run prove:<campaign> -- --help.\n`)
  process.exit(2)
}

function chosenSize({ full, brief, least = 1 }: Campaign): number {
  if (values.size === 'full') return full
  const chosen = Number(values.size ?? brief)
  if (Number.isSafeInteger(chosen) && chosen >= least) return chosen
  refuse(`--size must be a whole number, ${least} or more, or "full".`)
}

function chosenSeed(): number {
  const chosen = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  if (Number.isSafeInteger(chosen) && chosen >= 0) return chosen
  refuse('--seed must be a whole number, as a run prints it.')
}

function chosenBug({ bugs }: Campaign): Bug | undefined {
  if (values.bug === undefined) return undefined
  const chosen = bugs[values.bug]
  if (chosen !== undefined) return chosen
  refuse(`There is no bug "${values.bug}" to plant; there are: ${Object.keys(bugs).join(', ')}.`)
}

function planted(chosen: Bug | undefined): Environment {
  return chosen === undefined ? {} : rewriting(chosen.rewrites)
}

function progress(done: number, note = ''): void {
  const line = `${done} of ${size} ${note}`
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
  else if (done === size || Math.floor((done / size) * 10) > Math.floor(((done - 1) / size) * 10))
    process.stderr.write(`${line}\n`)
}

function endLine(): void {
  if (process.stderr.isTTY) process.stderr.write('\n')
}

function seconds(): string {
  return ((performance.now() - began) / 1000).toFixed(1)
}
