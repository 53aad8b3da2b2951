import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../support/eventually.ts'

it('a signal to "npm start" reaches the service, which ends and leaves nothing running', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-npm-start-'))
  const { PATH, HOME } = process.env
  const npm = spawn('npm', ['start'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH, HOME, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'test.db')}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  t.after(() => {
    try {
      process.kill(-(npm.pid ?? 0), 'SIGKILL')
    } catch {
      // The whole group is gone, as it should be.
    }
    rmSync(folder, { recursive: true, force: true })
  })
  let printed = ''
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const address = await eventually('the banner', () => /Listening on +(http\S+)/.exec(printed)?.[1])
  assert.equal((await fetch(`${address}/healthz`)).status, 200)
  const exit = once(npm, 'exit')
  npm.kill('SIGTERM')
  await exit
  await eventually('nobody listens any more', () =>
    fetch(`${address}/healthz`).then(
      () => undefined,
      () => true,
    ),
  )
})
