import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { campaigns } from '../campaigns/all.ts'

const run = fileURLToPath(new URL('../campaigns/run.ts', import.meta.url))

async function prove(...args: string[]) {
  const child = spawn(process.execPath, [run, ...args])
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return { code: code as number, stdout: stdout.join(''), stderr: stderr.join('') }
}

for (const [name, campaign] of Object.entries(campaigns)) {
  describe(`the campaign "${name}"`, () => {
    const isElsewhere = campaign.platform !== undefined && campaign.platform !== process.platform
    const skip = isElsewhere && `runs on ${campaign.platform} only`

    it(`holds: ${campaign.promise}`, { skip }, async () => {
      const { code, stdout, stderr } = await prove(name)
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, new RegExp(`^${name}: .+\\(\\d+\\.\\d s, seed \\d+\\)\\n$`))
    })

    for (const [bug, { shows }] of Object.entries(campaign.bugs))
      it(`finds the planted bug "${bug}"`, { skip }, async () => {
        const { code, stdout, stderr } = await prove(name, '--bug', bug)
        assert.equal(code, 1, stdout + stderr)
        assert.match(stdout, /: BROKEN after/)
        assert.match(stdout, shows)
      })

    it('has a script of its own', () => {
      const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
      assert.equal(scripts[`prove:${name}`], `node campaigns/run.ts ${name}`)
    })
  })
}
