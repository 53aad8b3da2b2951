import { execFile, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('run-times', import.meta.url))
const install = fileURLToPath(new URL('../../scripts/install.mjs', import.meta.url))

export interface RunTime {
  name: string
  /** The program and what stands before the script's name. */
  command: readonly [string, ...string[]]
}

/** What the client is tested on. All but this very Node are installed in a folder of their own, once. */
export function runTimes(): readonly RunTime[] {
  const { status, stderr } = spawnSync(process.execPath, [install, folder], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the run times could not be installed: ${stderr}`)
  const bin = `${folder}/node_modules/.bin`
  return [
    { name: 'Node 26', command: [process.execPath] },
    { name: 'Node 20', command: [`${bin}/node`] },
    { name: 'Bun', command: [`${bin}/bun`] },
    {
      name: 'Deno',
      command: [`${bin}/deno`, 'run', '--quiet', '--no-prompt', '--allow-all', '--node-modules-dir=manual'],
    },
  ]
}

/** Runs a script to its end and returns what it printed; fails when it fails. */
export async function runOn(
  { command }: RunTime,
  script: string,
  environment: Record<string, string>,
): Promise<string> {
  const [program, ...before] = command
  const { PATH, HOME, TMPDIR } = process.env
  const env = { PATH, HOME, TMPDIR, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1', ...environment }
  const { stdout } = await promisify(execFile)(program, [...before, script], { env, timeout: 60_000 })
  return stdout
}
