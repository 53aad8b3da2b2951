import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { circumstances } from '../bench/circumstances.ts'
import type { Figures } from '../bench/measure.ts'
import { groupToken } from '../bench/names.ts'
import { picture } from '../bench/picture.ts'
import { type Results, report } from '../bench/report.ts'
import { median, quantile } from '../bench/statistics.ts'
import { Stock } from '../bench/stock.ts'
import { readWrk } from '../bench/wrk.ts'
import { times } from './support/times.ts'

const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-test-'))
after(() => rmSync(folder, { recursive: true }))

function bench(...args: string[]) {
  const run = fileURLToPath(new URL('../bench/run.ts', import.meta.url))
  return spawnSync(process.execPath, [run, ...args], { encoding: 'utf8', env: { ...process.env, TMPDIR: folder } })
}

const skip = !existsSync('/proc/self/stat')

it('the benchmark runs, every answer is right, and it leaves nothing behind', { skip }, () => {
  const { status, stdout, stderr } = bench('--smoke', '--size', '200', '--connections', '5')
  assert.equal(status, 0, stdout + stderr)
  assert.match(stdout, /^200 user groups \(and 200 to rotate\), 5 connections; /)
  for (const row of [
    'bare server',
    'bare server, 2 processes',
    'SQLite: look-up, 200 hot',
    'SQLite: look-up, 200 hot, a connection each',
    'SQLite: verify, 200 hot',
    'SQLite: create',
    'SQLite: rotate',
    'SQLite: mix 90/5/5, 200 hot',
    'SQLite, 2 processes: look-up, 200 hot',
    'SQLite, 2 processes: verify, 200 hot',
  ])
    assert.match(stdout, new RegExp(`^${row}  .* 0$`, 'm'))
  assert.deepEqual(readdirSync(folder), [])
})

for (const [args, reason] of [
  [['--smoke', '--size', 'many'], '--size must be a whole number.'],
  [['--smoke', '--connections', '1.5'], '--connections must be a whole number.'],
  [['--smoke', '--rounds', '0'], '--rounds must be a number above 0.'],
  [['--smoke', '--seconds', '-1'], "Option '--seconds' argument is ambiguous."],
  [['--only', 'floors', '--seconds', '0.5'], '--seconds must be a whole number.'],
  [
    ['--smoke', '--only', 'sqlite,mysql'],
    'There is no part "mysql" to measure; there are: sqlite, postgres, peers, floors.',
  ],
  [['--smoke', '--quick'], "Unknown option '--quick'."],
] as const)
  it(`the benchmark refuses ${args.join(' ')}, and says why`, () => {
    const { status, stdout, stderr } = bench(...args)
    assert.deepEqual([status, stdout], [2, ''])
    assert.ok(stderr.startsWith(reason), stderr)
    assert.ok(stderr.endsWith(' See npm run bench -- --help.\n'), stderr)
  })

it('the median is the one in the middle, or between the two that are, and there is none of nothing', () => {
  assert.equal(median([10, 9, 1]), 9)
  assert.equal(median([4, 10, 1, 2]), 3)
  assert.throws(() => median([]), /nothing was measured/)
})

it('a quantile is the value that a share is below', () => {
  const values = times(1_000, (index) => 1_000 - index)
  assert.deepEqual(
    [0, 0.5, 0.99, 0.999, 1].map((share) => quantile(values, share)),
    [1, 501, 991, 1_000, 1_000],
  )
  assert.throws(() => quantile([], 0.5), /nothing was measured/)
})

const printedByWrk = (more: string) => `Running 1s test @ http://127.0.0.1:3000
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.51ms  300.00us   9.42ms   94.37%
  21715 requests in 2.00s, 6.20MB read
${more}Requests/sec:  10857.50
Transfer/sec:      3.10MB
busy 0.5
`

it('what wrk prints is read with all its errors', () => {
  assert.deepEqual(readWrk(printedByWrk('')), { requests: 21_715, errors: 0, seconds: 2, busy: 0.25 })
  const errors = '  Socket errors: connect 1, read 20, write 300, timeout 4000\n  Non-2xx or 3xx responses: 50000\n'
  assert.equal(readWrk(printedByWrk(errors)).errors, 54_321)
})

it('wrk that got no answer, or says nothing of it, has measured nothing', () => {
  assert.throws(() => readWrk(printedByWrk('').replace('21715', '0')), /wrk got no answer/)
  assert.throws(() => readWrk('unable to connect'), /wrk printed something else: unable to connect/)
})

it('each group that was filled in is rotated before one is rotated again, and then with its current token', () => {
  const stock = new Stock({ from: 10, to: 17 })
  const taken = times(7, () => stock.take())
  assert.deepEqual(
    taken.toSorted(),
    times(7, (index) => groupToken(10 + index)),
  )
  assert.equal(stock.take(), undefined)
  stock.give('current')
  assert.equal(stock.take(), 'current')
})

it('the picture has a bar for each ratio, and a line at that of the bare server', () => {
  const drawn = picture(
    [
      { name: 'less', ratio: 0.25 },
      { name: 'bare', ratio: 1 },
      { name: 'peer: a <b> & c', ratio: 4 },
    ],
    'here & now',
  )
  const bars = [...drawn.matchAll(/<rect x="(\d+)" y="\d+" width="(\d+)"/g)].map(([, x, width]) =>
    [x, width].map(Number),
  )
  const [[left = 0, least = 0] = [], [, bare = 0] = [], [, most = 0] = []] = bars
  assert.equal(bars.length, 3)
  assert.ok(least > 0)
  // Four times as much is as far, wherever one begins.
  assert.ok(Math.abs(most - bare - (bare - least)) <= 1, drawn)
  assert.equal(Number(/<line x1="(\d+)"/.exec(drawn)?.[1]), left + bare)
  assert.ok(drawn.includes('peer: a &lt;b> &amp; c') && drawn.includes('here &amp; now'))
})

const results: Results = {
  ...circumstances(),
  ...{ commit: 'abc', machine: 'here' },
  ...{ groups: 20_000, hot: 10_000, filled: 20_000 },
  effort: { rounds: 1, seconds: 1, warmUp: 1, connections: 8, samples: 10 },
  ...{ figures: [], notMeasured: { this: 'that' }, fillSpeeds: {}, settings: {}, floors: [] },
}

it('a report says what a star means, and has no table where there is nothing to show', () => {
  const figures: Figures = {
    ...{ name: 'some', generator: 'wrk', cpu: 46.5, bareCpu: 66.4, ratio: 0.7, perSecond: 21_715, cores: 0.5 },
    latencies: { p50: 1.73, p99: 4.43, late: 5, samples: 999 },
    ...{
      megabytes: 120,
      errors: 0,
      generatorWasBottleneck: false,
      generatorWasLate: true,
      serverWasNotSaturated: true,
    },
  }
  const title = `20,000 user groups, 8 connections; here, Node ${process.version}, commit abc\n\n`
  assert.equal(report(results), `${title}not measured: this: that\n`)
  const [, , , row, ...notes] = report({ ...results, figures: [figures] }).split('\n')
  assert.equal(row?.replace(/ +/g, ' '), 'some 0.70 46.5 66.4 – 21715 † 0.50 wrk 1.73 4.43 ‡ – 120 0')
  assert.deepEqual(
    notes.map((note) => note.slice(0, 32)),
    ['† the server was not saturated: ', '‡ the load generator was late it', 'not measured: this: that', ''],
  )
})
