import { tmpdir } from 'node:os'
import { fileSystem } from './circumstances.ts'

/** Ends the process where nothing can be measured, or where a figure would not mean what it says. */
export function refuseUnfit(smoke: boolean): void {
  if (process.platform !== 'linux')
    refuse('The benchmark reads CPU time and memory from /proc, so it runs on Linux only.')
  if (!smoke && ['tmpfs', 'ramfs'].includes(fileSystem()))
    refuse(`What is in ${tmpdir()} is in memory and not durable: set TMPDIR to a folder on a disk.`)
}

function refuse(reason: string): never {
  process.stderr.write(`${reason}\n`)
  process.exit(2)
}
