import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type Fault, type FaultyProxy, faultyProxy } from '../support/faulty-proxy.ts'
import { testApiToken } from '../support/service-process.ts'
import { closedPort, runningOnSqlite } from './client.ts'
import { projectWithClient } from './packed-client.ts'
import { readmeExamples } from './readme-examples.ts'
import { runOn, runTimes } from './run-times.ts'
import { vanishing } from './vanishing.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

/** What the comments behind console.log say it prints. */
const promised = readmeExamples.flatMap((block) =>
  [...block.matchAll(/console\.log\(.*\) \/\/ (.+)$/gm)].map(([, text]) => text),
)

const later = {
  headers: { 'retry-after': '0' },
  body: '{"success":0,"error":{"code":"unavailable","message":"Later."}}',
}
const faults: Record<string, Fault[]> = {
  lost: ['lose'],
  lostRotation: ['pass', 'pass', 'lose'],
  lostCreation: ['pass', 'lose'],
  lostRenaming: ['pass', 'lose'],
  lostDeletion: ['pass', 'lose'],
  hung: ['hang'],
  hungAgain: ['hang'],
  cut: ['cut'],
  refused: [
    { status: 503, ...later },
    { status: 429, ...later },
  ],
  limited: [{ status: 429, ...later }],
  redirected: [{ status: 307, headers: { location: '/elsewhere' } }],
}

describe('the client, built and installed', () => {
  const project = projectWithClient({
    ...Object.fromEntries(readmeExamples.map((block, index) => [`example-${index}.js`, block])),
    'readme.js': readmeExamples.map((_, index) => `await import('./example-${index}.js')\n`).join(''),
    'scenario.js': read('scenario.js'),
  })

  it('has a README that shows every feature, and says what each line prints', () => {
    assert.equal(readmeExamples.length, 8)
    assert.equal(promised.length, [...readmeExamples.join().matchAll(/console\.log/g)].length)
  })

  for (const runTime of runTimes()) {
    it(`runs the README's examples as they are on ${runTime.name}`, async (t) => {
      const { service } = await runningOnSqlite(t)
      const environment = { USER_GROUP_SERVICE_URL: service.url, UGS_API_TOKEN: testApiToken }
      const printed = await runOn(runTime, join(project, 'readme.js'), environment)
      assert.deepEqual(printed.trimEnd().split('\n'), promised)
    })

    it(`gets through lost, late and refused answers on ${runTime.name}`, async (t) => {
      const { service } = await runningOnSqlite(t)
      const closed = `http://127.0.0.1:${await closedPort()}`
      const proxies = new Map<string, FaultyProxy>()
      for (const [name, plan] of Object.entries(faults)) proxies.set(name, await faultyProxy(t, service.url, plan))
      const gone = [await vanishing(t), await vanishing(t), await vanishing(t)]
      const urls = [...proxies].map(([name, { url }]) => [name, url])
      await runOn(runTime, join(project, 'scenario.js'), {
        USER_GROUP_SERVICE_URL: service.url,
        UGS_API_TOKEN: testApiToken,
        PROXIES: JSON.stringify({ ...Object.fromEntries(urls), closed, gone }),
      })
      // Nor does the run time send them a second time behind the client's back, but for Deno and a DELETE.
      const sent = Object.fromEntries([...proxies].map(([name, { seen }]) => [name, seen]))
      assert.deepEqual(sent.lostCreation, ['GET /api/team', 'POST /api/schemas'])
      const look = ['GET /api/user_groups/acme', 'POST /api/user_groups']
      const rotation = 'POST /api/user'
      assert.deepEqual(sent.lostRotation, [...look, rotation, rotation, ...look, 'GET /api/user_groups/acme'])
      const change = 'PATCH /api/user_groups/acme'
      assert.deepEqual(sent.lostRenaming, [look[0], change, change, 'GET /api/user_groups/renamed'])
      const second = runTime.name === 'Deno' ? 'DELETE' : 'GET'
      const ends = ['DELETE', second].map((method) => `${method} /api/user_groups/renamed`)
      assert.deepEqual(sent.lostDeletion, ['GET /api/team', ...ends])
    })
  }
})
