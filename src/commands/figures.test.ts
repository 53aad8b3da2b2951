import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { FiguresOfAll } from './figures.ts'

/** What a worker hands over that has answered so many requests, as it arrives from another process. */
async function figures(requests: number) {
  const registry = new Registry()
  const registers = [registry]
  const labels = { operation: 'verify' }
  new Counter({ name: 'requests_total', help: 'x', labelNames: ['operation'], registers }).inc(labels, requests)
  const seconds = new Histogram({ name: 'seconds', help: 'x', buckets: [1], registers })
  for (let request = 0; request < requests; request += 1) seconds.observe(0.5)
  new Gauge({ name: 'connections', help: 'x', registers }).set(10)
  return JSON.parse(JSON.stringify(await registry.getMetricsAsJSON()))
}

async function shown(all: FiguresOfAll) {
  const text = await all.metrics()
  const value = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.split(' ')[1] ?? 0,
    )
  return [value('requests_total{operation="verify"}'), value('seconds_count'), value('connections')]
}

describe('the figures of all workers', () => {
  it('are the sum of what each said last', async () => {
    const all = new FiguresOfAll()
    for (const worker of [1, 2, 3]) all.begin(worker)
    assert.deepEqual(await shown(all), [0, 0, 0])
    all.note(1, await figures(3))
    all.note(2, await figures(4))
    assert.deepEqual(await shown(all), [7, 7, 20])
    all.note(1, await figures(5))
    assert.deepEqual(await shown(all), [9, 9, 20])
  })

  it('keep what the dead have counted, once, and of their gauges nothing', async () => {
    const all = new FiguresOfAll()
    for (const worker of [1, 2, 3, 4]) {
      all.begin(worker)
      all.note(worker, await figures(worker))
    }
    for (const worker of [1, 2, 3]) all.end(worker)
    all.note(2, await figures(2))
    all.end(3)
    assert.deepEqual(await shown(all), [10, 10, 10])
    all.end(4)
    assert.deepEqual(await shown(all), [10, 10, 0])
  })
})
