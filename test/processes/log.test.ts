import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Premises } from '../support/premises.ts'
import { onFullDisk, startService } from '../support/service-process.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail()] = engines

/** Runs another command with a terminal for its output, whose far end, its input, nobody reads: it takes what fits in. */
const onStoppedTerminal = [
  'python3',
  '-c',
  'import os, sys; far, near = os.openpty(); os.dup2(far, 0); os.dup2(near, 1); os.execvp(sys.argv[1], sys.argv[1:])',
]
const hasTerminals = spawnSync('python3', ['-c', 'import os; os.openpty()']).status === 0

describe('a log that cannot be written does not stop the service', () => {
  it('when nobody reads it: what was lost is counted, and all others are there', async (t) => {
    const service = await (await Premises.open(t, sqlite)).start()
    const { stdout } = service.process
    const requests = 10_000
    stdout?.pause()
    for (let sent = 0; sent < requests; sent += 100)
      for (const { status } of await Promise.all(times(100, () => service.caller.call('GET', '/healthz'))))
        assert.equal(status, 200)
    stdout?.resume()
    const lost = () => Number(/"lines":(\d+),"msg":"log lines were lost"/.exec(service.output().stdout)?.[1] ?? 0)
    await eventually('the lost lines are counted', () => lost() > 0)
    const lines = service
      .output()
      .stdout.trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.equal(lines.filter(({ operation }) => operation === 'health.alive').length + lost(), requests)
  })

  it('when its terminal is stopped', { skip: !hasTerminals, timeout: 30_000 }, async (t) => {
    const { caller, service } = await startedUnder(t, onStoppedTerminal)
    for (let sent = 0; sent < 500; sent += 100) await Promise.all(times(100, () => caller.call('GET', '/healthz')))
    assert.equal(await service.stop(), 0)
  })

  it('when its disk is full', { skip: !existsSync('/dev/full') }, async (t) => {
    const { caller, service } = await startedUnder(t, onFullDisk)
    for (let id = 0; id < 20; id += 1) assert.equal((await caller.getOrCreate(`group ${id}`)).status, 200)
    assert.equal(await service.stop(), 0)
  })
})

async function startedUnder(t: TestContext, under: readonly string[]) {
  const { environment, remove } = await sqlite.freshDatabase()
  t.after(remove)
  const service = await startService(environment, { under })
  const caller = new Caller(service.url)
  t.after(async () => {
    await caller.close()
    await service.stop('SIGKILL')
  })
  return { service, caller }
}
