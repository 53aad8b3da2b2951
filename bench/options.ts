import { parseArgs } from 'node:util'
import type { Effort } from './measure.ts'

const parts = ['sqlite', 'postgres', 'peers', 'floors'] as const
type Part = (typeof parts)[number]

const usual: Effort = { rounds: 5, seconds: 1, connections: 32, warmUp: 12, samples: 10_000 }
const brief: Effort = { rounds: 1, seconds: 0.1, connections: 8, warmUp: 0.1, samples: 0 }

const usage = `npm run bench -- [--size 1000000] [--connections 10] [--seconds 2] [--rounds 9] [--only ${parts}] [--smoke]

  --size         user groups in the database, filled by the bulk import (default: 1000)
  --connections  how many clients there are, each waiting for its answer (default: ${usual.connections})
  --seconds      how long each round lasts (default: ${usual.seconds})
  --rounds       how many there are; the median counts (default: ${usual.rounds})
  --only         which parts to measure (default: all, and only then the results are kept in bench/)
  --smoke        checks that nothing fails, in ${brief.rounds} round of ${brief.seconds} s with ${brief.connections} connections, of SQLite, unless told
                 otherwise; writes no results
`

interface Options {
  size: number
  effort: Effort
  parts: readonly Part[]
  smoke: boolean
  /** Whether what comes out is kept: a part of it would take the place of all. */
  isWhole: boolean
}

/** Ends the process where there is nothing to measure: with the usage, or with what is wrong. */
export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        size: { type: 'string', default: '1000' },
        connections: { type: 'string' },
        seconds: { type: 'string' },
        rounds: { type: 'string' },
        only: { type: 'string' },
        smoke: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const { size, only, smoke, help } = values
    if (help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    const effort = smoke ? brief : usual
    return {
      size: wholeNumber('size', size),
      effort: {
        ...effort,
        rounds: wholeNumber('rounds', values.rounds ?? `${effort.rounds}`),
        // wrk counts in whole seconds.
        seconds: (smoke ? positiveNumber : wholeNumber)('seconds', values.seconds ?? `${effort.seconds}`),
        connections: wholeNumber('connections', values.connections ?? `${effort.connections}`),
      },
      parts: only?.split(',').map(partNamed) ?? (smoke ? ['sqlite'] : parts),
      smoke,
      isWhole: !smoke && only === undefined,
    }
  } catch (error) {
    process.stderr.write(`${(error as Error).message.replace(/\.?$/, '.')} See npm run bench -- --help.\n`)
    process.exit(2)
  }
}

function wholeNumber(name: string, text: string): number {
  if (Number.isSafeInteger(Number(text))) return positiveNumber(name, text)
  throw new Error(`--${name} must be a whole number.`)
}

function positiveNumber(name: string, text: string): number {
  if (Number(text) > 0 && Number(text) < Number.POSITIVE_INFINITY) return Number(text)
  throw new Error(`--${name} must be a number above 0.`)
}

function partNamed(name: string): Part {
  const part = parts.find((known) => known === name)
  if (part !== undefined) return part
  throw new Error(`There is no part "${name}" to measure; there are: ${parts.join(', ')}.`)
}
