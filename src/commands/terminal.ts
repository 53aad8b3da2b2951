import { isoTimeOrNull } from '../clock.ts'
import { OperatorError } from '../operator-error.ts'
import { explain } from './explain.ts'
import { visible } from './visible.ts'

let isWatched = false

export function print(text: string): void {
  if (!isWatched) process.stdout.on('error', endWithoutOutput)
  isWatched = true
  process.stdout.write(`${text}\n`)
}

/** Whoever reads it may have seen enough and hang up, as head does; or there is no room for it. */
function endWithoutOutput(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit()
  const remedy = 'The command has done its work. Make room where its output goes.'
  say(explain(new OperatorError(`The output cannot be written: ${error.message}.`, remedy, error)))
  process.exit(1)
}

export function printJson(value: unknown): void {
  print(visible(JSON.stringify(value, null, 2)))
}

/** One thing with its fields, a line each. */
export function printRecord(record: object, json: boolean | undefined): void {
  const fields = Object.entries(record)
  const width = Math.max(...fields.map(([name]) => name.length))
  const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  if (json) printJson(record)
  else for (const [name, value] of fields) print(`${name.padEnd(width)}  ${visible(shown(value))}`)
}

/** For people, beside the output proper. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}

export function when(time: number | null): string {
  return isoTimeOrNull(time) ?? '-'
}
