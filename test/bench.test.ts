import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-test-'))
after(() => rmSync(folder, { recursive: true }))

function bench(...args: string[]) {
  const run = fileURLToPath(new URL('../bench/run.ts', import.meta.url))
  return spawnSync(process.execPath, [run, ...args], { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } })
}

it('the benchmark runs, no request of it fails, and it leaves nothing behind', () => {
  const { status, stdout, stderr } = bench('--smoke', '--size', '200', '--connections', '5')
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /^200 user groups, 5 connections; /)
  assert.match(stdout, /look-up, 5 connections each/)
  for (const operation of ['look-up', 'look-up, a connection each', 'verify', 'create', 'rotate', 'mix'])
    assert.match(stdout, new RegExp(`SQLite: ${operation}`))
  assert.deepEqual(readdirSync(folder), [])
})

for (const [args, reason] of [
  [['--size', 'many'], '--size must be a whole number.'],
  [['--connections', '1.5'], '--connections must be a whole number.'],
  [['--rounds', '0'], '--rounds must be a number above 0.'],
  [['--seconds', '-1'], "Option '--seconds' argument is ambiguous."],
  [['--only', 'sqlite,mysql'], 'There is no part "mysql" to measure; there are: sqlite, postgres, peers, floors.'],
  [['--quick'], "Unknown option '--quick'."],
] as const)
  it(`the benchmark refuses ${args.join(' ')}, and says why`, () => {
    const { status, stdout, stderr } = bench('--smoke', ...args)
    assert.deepEqual([status, stdout], [2, ''])
    assert.ok(stderr.startsWith(reason), stderr)
    assert.ok(stderr.endsWith(' See npm run bench -- --help.\n'), stderr)
  })
