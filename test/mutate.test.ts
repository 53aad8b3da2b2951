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
      ...['--only', 'src/tokens/', '--tests', 'src/tokens/format.test.ts', '--sample', '20', '--seed', '1'],
    )
    assert.equal(status, 0, stdout + stderr)
    const total = { loaded: { killed: 0, survived: 0 }, unloaded: { killed: 0, survived: 0 } }
    for (const [, file = '', killed, survived] of stdout.matchAll(/^(src\S+) +\d+ +(\d+) +(\d+) +\d+ %$/gm)) {
      const sum = total[/\/(base62|format|random)\.ts$/.test(file) ? 'loaded' : 'unloaded']
      sum.killed += Number(killed)
      sum.survived += Number(survived)
    }
    assert.ok(total.loaded.killed > 0, stdout)
    assert.ok(total.unloaded.survived > 0, stdout)
    assert.equal(total.unloaded.killed, 0, stdout)
    assert.match(stdout, /^Survived:\n(src\/tokens\/[\w-]+\.ts:\d+ {2}.+ → .+\n)+\n20 of \d+ mutants, seed 1$/m)
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
