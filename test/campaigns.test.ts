import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { campaigns } from '../campaigns/all.ts'

// They take minutes: `first` of each campaign is for CI, `all` for `npm run prove:bugs`, and for who changes a campaign.
const planted = { first: 1, all: Number.POSITIVE_INFINITY }[process.env.PLANTED_BUGS ?? '']
const source = new URL('../src/', import.meta.url)
const run = fileURLToPath(new URL('../campaigns/run.ts', import.meta.url))

async function prove(args: readonly string[], environment = process.env) {
  const child = spawn(process.execPath, [run, ...args], { env: environment })
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    once(child, 'close'),
  ])
  return { code: code as number, stdout: stdout.join(''), stderr: stderr.join('') }
}

describe('a campaign refuses what makes no sense, and says why', () => {
  for (const [args, reason] of [
    [['kill', '--size', '0'], '--size must be a whole number, 1 or more, or "full".'],
    [['keys', '--size', '1999'], '--size must be a whole number, 2000 or more, or "full".'],
    [['kill', '--seed', 'same'], '--seed must be a whole number, as a run prints it.'],
    [['kill', '--bug', 'none'], 'There is no bug "none" to plant; there are: '],
    [['kill', '--quick'], "Unknown option '--quick'."],
  ] as const)
    it(args.join(' '), async () => {
      const { code, stdout, stderr } = await prove(args)
      assert.deepEqual([code, stdout], [2, ''])
      assert.ok(stderr.startsWith(reason), stderr)
      assert.ok(stderr.endsWith(' See npm run prove:<campaign> -- --help.\n'), stderr)
    })
})

for (const [name, load] of Object.entries(campaigns)) {
  const campaign = await load()
  describe(`the campaign "${name}"`, () => {
    const skip = campaign.lacks?.() ?? false
    it(`holds: ${campaign.promise}`, { skip }, async () => {
      const { code, stdout, stderr } = await prove([name])
      assert.equal(code, 0, stdout + stderr)
      assert.match(stdout, new RegExp(`^${name}: .+\\(\\d+\\.\\d s, seed \\d+\\)\\n$`))
    })

    const bugs = Object.entries(campaign.bugs)
    for (const [bug, { shows, lacks }] of bugs.slice(0, planted ?? 0))
      it(`finds the planted bug "${bug}"`, { skip: skip || (lacks?.() ?? false) }, async () => {
        const { code, stdout, stderr } = await prove([name, '--bug', bug])
        assert.equal(code, 1, stdout + stderr)
        // What it said elsewhere tells why it ended without a verdict.
        assert.match(stdout, /: BROKEN after/, stdout + stderr)
        assert.match(stdout, shows)
      })

    it('plants bugs that fit the source', () => {
      for (const [bug, { rewrites }] of bugs)
        for (const { file, find } of rewrites)
          assert.equal(readFileSync(new URL(file, source), 'utf8').split(find).length, 2, `${bug}: ${find}`)
    })

    it('has a script of its own', () => {
      const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
      assert.equal(scripts[`prove:${name}`], `node campaigns/run.ts ${name}`)
    })
  })
}

describe('a campaign on a machine that lacks what it needs', () => {
  it('says that it proved nothing, with a status of its own', async () => {
    const nowhere = { ...process.env, PATH: '/nowhere' }
    for (const args of [['proxies'], ['proxies', '--bug', 'answers that may be stored']]) {
      const { code, stdout, stderr } = await prove(args, nowhere)
      assert.equal(code, 3, stdout + stderr)
      assert.match(stdout, /^proxies: proved nothing, as none of these is on the PATH: .*nginx.*\n$/)
    }
  })
})
