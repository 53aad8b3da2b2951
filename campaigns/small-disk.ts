import { spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from '../test/support/service-process.ts'

/** A place for a database that can run out of room, and can be made read-only. */
export interface SmallDisk {
  folder: string
  /** From then on nothing more can be written there by this service. */
  fill(service: ServiceProcess): void
  free(service: ServiceProcess): void
  canBeReadOnly: boolean
  setReadOnly(is: boolean): void
  remove(): void
}

/** A file system of its own where we may mount one; otherwise a limit to the size of the service's files. */
export function openSmallDisk(): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-disk-'))
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m', 'tmpfs', folder]).status === 0
  return isMounted ? mounted(folder) : limited(folder)
}

function mounted(folder: string): SmallDisk {
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill() {
      try {
        for (;;) appendFileSync(ballast, Buffer.alloc(65_536))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(ballast),
    canBeReadOnly: true,
    setReadOnly: (is) => run('mount', '-o', `remount,${is ? 'ro' : 'rw'}`, folder),
    remove() {
      run('umount', '--lazy', folder)
      rmSync(folder, { recursive: true })
    },
  }
}

function limited(folder: string): SmallDisk {
  const limit = ({ process: { pid } }: ServiceProcess, bytes: number | 'unlimited') =>
    run('prlimit', `--pid=${pid}`, `--fsize=${bytes}:`)
  return {
    folder,
    fill: (service) => limit(service, statSync(join(folder, 'test.db')).size),
    free: (service) => limit(service, 'unlimited'),
    // No mode keeps root from writing.
    canBeReadOnly: process.getuid?.() !== 0,
    setReadOnly: (is) => chmodSync(folder, is ? 0o500 : 0o700),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function run(command: string, ...args: string[]): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr ?? error?.message}`)
}
