import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'

it('the benchmark runs, and no request of it fails', () => {
  const run = fileURLToPath(new URL('../bench/run.ts', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [run, '--smoke', '--size', '200'], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
  for (const operation of ['look-up', 'verify', 'create', 'rotate', 'mix'])
    assert.match(stdout, new RegExp(`SQLite: ${operation}`))
})
