import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accepts } from '../test/support/accepts.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/postgres-server.ts'
import type { ProxyProgram, ProxySetup } from './proxy-setups.ts'

export interface RunningProxy extends ProxySetup {
  url: string
  stop(): Promise<void>
}

/** Such as "1.22.1"; undefined when it is not on the PATH. */
export function versionOf({ command, versionFlag }: ProxyProgram): string | undefined {
  const { stdout, stderr } = spawnSync(command, [versionFlag], { encoding: 'utf8' })
  return /\d+\.\d+\.\d+/.exec(`${stdout}${stderr}`)?.[0]
}

/** The real program, in front of the service, with all its files in a folder of its own. */
export async function startProxy(setup: ProxySetup, service: URL): Promise<RunningProxy> {
  const { command, inForeground } = setup.program
  const folder = mkdtempSync(join(tmpdir(), 'ugs-proxy-'))
  // Started by root, nginx works as another user.
  chmodSync(folder, 0o755)
  mkdirSync(join(folder, 'state'))
  const port = await freePort()
  const configuration = join(folder, 'configuration')
  writeFileSync(configuration, setup.configuration(service, port, folder))
  const child = spawn(command, inForeground(configuration, port, folder), {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const said: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text))
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      await exit
    }
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await eventually(`${setup.name} accepts connections`, () => {
      if (child.exitCode !== null) throw new Error(`${setup.name} ended at its start: ${said.join('')}`)
      return accepts(port)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { ...setup, url: `http://127.0.0.1:${port}`, stop }
}
