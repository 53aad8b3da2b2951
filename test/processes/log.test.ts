import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { describe, it } from 'node:test'
import { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { Premises } from '../support/premises.ts'
import { onFullDisk, startService } from '../support/service-process.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail()] = engines

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

  it('when its disk is full', { skip: !existsSync('/dev/full') }, async (t) => {
    const { environment, remove } = await sqlite.freshDatabase()
    t.after(remove)
    const service = await startService(environment, { under: onFullDisk })
    const caller = new Caller(service.url)
    t.after(async () => {
      await caller.close()
      await service.stop('SIGKILL')
    })
    for (let id = 0; id < 20; id += 1) assert.equal((await caller.getOrCreate(`group ${id}`)).status, 200)
    assert.equal(await service.stop(), 0)
  })
})
