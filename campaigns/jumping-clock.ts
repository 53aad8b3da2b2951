import { globSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../test/support/service-process.ts'

const preloaded = fileURLToPath(new URL('shifted-clock.ts', import.meta.url))
/** Debian's package libfaketime: it stands between a process and the clock of the system. */
const [libfaketime] = globSync('/usr/{lib,lib/*,local/lib}/faketime/libfaketimeMT.so.1')

export const hasLibfaketime = libfaketime !== undefined

/** The clock of a process that may be set while it runs. Only the time of day jumps: time-outs go on as they were. */
export class JumpingClock {
  /** How far it is ahead, in seconds. */
  offset = 0
  /** For the process whose clock it is. */
  readonly environment: Environment
  readonly #folder = mkdtempSync(join(tmpdir(), 'ugs-clock-'))
  readonly #file = join(this.#folder, 'offset')

  /** `within` is where the clock is set: in the system, if libfaketime is there, or in Node. */
  constructor(within: 'system' | 'Node', { NODE_OPTIONS = '' }: Environment) {
    this.set(0)
    process.once('exit', () => rmSync(this.#folder, { recursive: true, force: true }))
    this.environment =
      within === 'system' && libfaketime
        ? {
            LD_PRELOAD: libfaketime,
            FAKETIME_TIMESTAMP_FILE: this.#file,
            FAKETIME_NO_CACHE: '1',
            FAKETIME_DONT_FAKE_MONOTONIC: '1',
            NO_FAKE_STAT: '1',
          }
        : { NODE_OPTIONS: `${NODE_OPTIONS} --import=${preloaded}`, CLOCK_FILE: this.#file }
  }

  /** Renamed into place: a process that looks at the moment sees the old time or the new one. */
  set(offset: number): void {
    this.offset = offset
    writeFileSync(`${this.#file}.part`, `${offset < 0 ? '' : '+'}${offset}`)
    renameSync(`${this.#file}.part`, this.#file)
  }
}
