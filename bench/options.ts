import { parseArgs } from 'node:util'

const parts = ['sqlite', 'postgres', 'peers', 'floors'] as const
export type Part = (typeof parts)[number]

const usage = `npm run bench -- [--size 1000000] [--seconds 1] [--rounds 5] [--only ${parts}] [--smoke]

  --size     user groups in the database, filled by the bulk import (default: 1000)
  --seconds  how long each round lasts (default: 1)
  --rounds   how many there are; the median counts (default: 5)
  --only     which parts to measure (default: all)
  --smoke    one short round, of SQLite unless told otherwise: checks that nothing fails; writes no results
`

export interface Options {
  size: number
  seconds: number
  rounds: number
  parts: readonly Part[]
  smoke: boolean
}

/** Ends the process where there is nothing to measure: with the usage, or with what is wrong. */
export function readOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        size: { type: 'string', default: '1000' },
        seconds: { type: 'string', default: '1' },
        rounds: { type: 'string', default: '5' },
        only: { type: 'string' },
        smoke: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const { size, seconds, rounds, only, smoke, help } = values
    if (help) {
      process.stdout.write(usage)
      process.exit(0)
    }
    return {
      size: wholeNumber('size', size),
      seconds: positiveNumber('seconds', seconds),
      rounds: wholeNumber('rounds', rounds),
      parts: only?.split(',').map(partNamed) ?? (smoke ? ['sqlite'] : parts),
      smoke,
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
