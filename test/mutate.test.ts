import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))

function mutate(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/mutate.ts', ...args], { cwd: root, encoding: 'utf8' })
}

describe('npm run mutate', () => {
  it('tells a change that the tests notice from one in a file that they never load', () => {
    const before = readFileSync(`${root}src/tokens/format.ts`, 'utf8')
    const { status, stdout, stderr } = mutate(
      ...['--only', 'src/tokens/', '--tests', 'src/tokens/format.test.ts', '--sample', '6', '--seed', '1'],
    )
    assert.equal(status, 0, stdout + stderr)
    const rows = new Map(stdout.matchAll(/^(\S+) +(\d+) +(\d+) +(\d+) +\d+ %$/gm).map(([, file, ...of]) => [file, of]))
    const [, noticed] = rows.get('src/tokens/format.ts') ?? []
    const [, unloaded, survived] = rows.get('src/tokens/key-ring.ts') ?? []
    assert.ok(Number(noticed) > 0, stdout)
    assert.ok(Number(survived) > 0, stdout)
    assert.equal(unloaded, '0', stdout)
    assert.match(
      stdout,
      /^Survived:\n(src\/tokens\/(format|key-ring|tokens)\.ts:\d+ {2}.+ → .+\n)+\n6 of \d+ mutants, seed 1$/m,
    )
    assert.equal(readFileSync(`${root}src/tokens/format.ts`, 'utf8'), before)
  })

  it('takes no test at its word that fails without a change, and none that is not there', () => {
    for (const [test, complaint] of [
      ['campaigns/run.ts', 'campaigns/run.ts failed without a change'],
      ['test/nowhere.test.ts', 'there is no test for src/tokens/'],
    ] as const) {
      const { status, stdout, stderr } = mutate('--only', 'src/tokens/', '--tests', test, '--sample', '1')
      assert.equal(status, 1, stdout + stderr)
      assert.equal(stdout, '')
      assert.ok(stderr.includes(complaint), stderr)
    }
  })
})
