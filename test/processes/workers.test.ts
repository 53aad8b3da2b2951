import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { Caller } from '../support/caller.ts'
import { engines } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { answeringPids, isAlive, logged } from '../support/logs.ts'
import { type CalledService, Premises } from '../support/premises.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertRefusal, failingStart } from '../support/refusal.ts'
import { SlowUpload } from '../support/slow-upload.ts'
import { times } from '../support/times.ts'

const [sqlite = assert.fail(), postgres = assert.fail()] = engines
const workers = 3
const two = { UGS_WORKERS: '2' }

for (const engine of engines)
  describe(`three workers on ${engine.name}`, () => {
    let premises: Premises
    let service: CalledService
    let caller: Caller
    let pids: number[]
    before(async () => {
      premises = await Premises.open(undefined, engine, { UGS_WORKERS: String(workers), UGS_API_TOKEN: undefined })
      service = await premises.start()
      caller = premises.call(service, /uga_\w+/.exec(service.output().stderr)?.[0])
      pids = await everyWorker(service, workers)
    })
    after(() => premises.close())
    const counted = async () => {
      const { status, body } = await caller.call('GET', '/metrics')
      assert.equal(status, 200)
      return Number(
        /^ugs_requests_total\{operation="user_group.get_or_create",status="200"\} (\d+)$/m.exec(body)?.[1] ?? 0,
      )
    }

    it('greet once, migrate once, and all answer on the one port', async () => {
      const { stderr } = service.output()
      assert.equal(stderr.match(/^User Group Service /gm)?.length, 1)
      assert.equal(stderr.match(/Listening on/g)?.length, 1)
      assert.equal(stderr.match(/shown only now/g)?.length, 1)
      const versions = await rawSql(premises.environment, 'select version from schema_version')
      assert.equal(new Set(versions.map(({ version }) => String(version))).size, versions.length)
      assert.equal(pids.length, workers)
      assert.ok(!pids.includes(service.process.pid as number), 'the first process serves nobody')
    })

    it('answer /metrics with the sum over all of them, whichever is asked', async () => {
      assert.equal(await counted(), 0)
      await Promise.all(times(120, (i) => caller.getOrCreate(`group ${i}`)))
      await eventually('all are counted', async () => (await counted()) === 120)
      assert.deepEqual(new Set(await Promise.all(times(30, counted))), new Set([120]))
      assert.doesNotMatch(service.output().stderr, /MaxListenersExceeded/, 'however many ask at once')
      assert.equal((await fetch(`${service.url}/metrics`)).status, 401)
    })

    it('replace one that is killed, once that can start, while the others go on serving', async () => {
      const [victim] = pids
      assert.ok(victim)
      await rawSql(premises.environment, 'insert into schema_version (version, applied_at) values (9999, 0)')
      process.kill(victim, 'SIGKILL')
      await eventually('it is gone', () => !isAlive(victim))
      // On new connections: those to the dead worker are gone with it.
      const answers = await Promise.all(times(60, () => onNewConnection(service)))
      assert.deepEqual(new Set(answers), new Set([200]))
      assert.equal(await counted(), 120, 'what it had counted is not forgotten')
      const { reason } = await eventually('it is said why another cannot start', () =>
        logged(service).find(({ msg }) => msg === 'worker could not start'),
      )
      assert.match(String(reason), /^The database is at schema version 9999, newer than .+\.$/)
      await rawSql(premises.environment, 'delete from schema_version where version = 9999')
      const successor = await eventually('another has taken its place', async () => {
        assert.equal(await onNewConnection(service), 200)
        return answeringPids(service).find((pid) => !pids.includes(pid))
      })
      assert.ok(isAlive(successor))
      const deaths = logged(service).filter(({ msg }) => msg.startsWith('worker died'))
      assert.deepEqual([deaths[0]?.signal, deaths[1]?.code], ['SIGKILL', 1])
      assert.deepEqual([deaths[0]?.pause_ms, deaths[1]?.pause_ms], [100, 200], 'it waits longer each time')
      assert.equal(service.output().stderr.match(/Listening on/g)?.length, 1)
    })
  })

describe('several workers', { concurrency: 2 }, () => {
  it('go on without one that dies as it is asked for its figures', async (t) => {
    const service = await (await Premises.open(t, sqlite, { ...two, UGS_METRICS_PORT: '0' })).start()
    const [victim = assert.fail()] = await everyWorker(service)
    const [, metrics = assert.fail()] = /Metrics on +(http\S+)/.exec(service.output().stderr) ?? []
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    t.after(() => agent.destroy())
    const scraped = async () => {
      const [answer] = await once(get(metrics, { agent }), 'response')
      await answer.resume().toArray()
      return answer.statusCode
    }
    assert.equal(await scraped(), 200)
    service.process.kill('SIGSTOP')
    const scraping = scraped()
    // In this order. Nobody sees either before the process that is stopped has taken note of it.
    await setTimeout(100)
    process.kill(victim, 'SIGKILL')
    await setTimeout(100)
    service.process.kill('SIGCONT')
    assert.equal(await scraping, 200)
    assert.equal(await onNewConnection(service), 200)
  })

  it('have one that hangs replaced', async (t) => {
    const service = await (await Premises.open(t, sqlite, two)).start()
    const pids = await everyWorker(service)
    const [victim = assert.fail()] = pids
    process.kill(victim, 'SIGSTOP')
    await eventually('it is ended', () => !isAlive(victim), 25_000)
    const [hung] = logged(service).filter(({ msg }) => msg === 'worker hangs, ending it')
    assert.equal(hung?.worker, victim)
    await eventually('another takes its place', async () => {
      assert.equal(await onNewConnection(service), 200)
      return answeringPids(service).find((pid) => !pids.includes(pid))
    })
  })

  it('all end with the first process on SIGTERM, with exit code 0', async (t) => {
    const service = await (await Premises.open(t, sqlite, two)).start()
    const pids = await everyWorker(service)
    assert.equal(await service.stop('SIGTERM'), 0)
    assert.deepEqual(pids.filter(isAlive), [])
  })

  it('all end with exit code 0, and none is replaced, when a terminal interrupts every one of them', async (t) => {
    const service = await (await Premises.open(t, sqlite, two)).start()
    const pids = await everyWorker(service)
    const stopped = service.stop('SIGINT')
    for (const pid of pids) process.kill(pid, 'SIGINT')
    assert.equal(await stopped, 0)
    assert.deepEqual(pids.filter(isAlive), [])
    assert.deepEqual(
      logged(service).filter(({ msg }) => msg.startsWith('worker died')),
      [],
    )
  })

  it('answer what is under way and leave no orphan when the first process is killed', async (t) => {
    const service = await (await Premises.open(t, sqlite, two)).start()
    const pids = await everyWorker(service)
    const upload = await SlowUpload.begin(service.url, 'under way')
    await service.stop('SIGKILL')
    await eventually('the idle ones are gone', () => pids.filter(isAlive).length === 1)
    upload.finish()
    assert.equal((await upload.answer).status, 200)
    await eventually('the workers are gone too', () => !pids.some(isAlive))
    await assert.rejects(fetch(`${service.url}/healthz`))
  })

  it('go on without one that cannot be started, and have it back when it can', async (t) => {
    // As when the program is replaced under way, or the system has no room for another process.
    const missing = 'const { execPath } = process; process.on("SIGUSR2", () => { process.execPath = "/nowhere" })'
    const back = 'process.on("SIGWINCH", () => { process.execPath = execPath })'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(`${missing};${back}`)}`
    const service = await (await Premises.open(t, sqlite, { ...two, NODE_OPTIONS })).start()
    const pids = await everyWorker(service)
    service.process.kill('SIGUSR2')
    process.kill(pids[0] ?? assert.fail(), 'SIGKILL')
    await eventually('it is noticed', () => logged(service).some(({ code }) => code === 'ENOENT'))
    assert.equal(await onNewConnection(service), 200)
    service.process.kill('SIGWINCH')
    await eventually('another has taken its place', async () => {
      await onNewConnection(service)
      return answeringPids(service).length > pids.length
    })
    assert.equal(await service.stop('SIGTERM'), 0)
  })

  // SQLite opens too soon for anything to come in between.
  it('all end on SIGTERM, one too that is only starting in the place of another', async (t) => {
    const service = await (await Premises.open(t, postgres, two)).start()
    const pids = await everyWorker(service)
    const [victim = assert.fail()] = pids
    process.kill(victim, 'SIGKILL')
    await eventually('its death is noticed', () => logged(service).some(({ msg }) => msg.startsWith('worker died')))
    // Behind the pause before another is started, and before that one is ready.
    await setTimeout(250)
    assert.equal(await service.stop('SIGTERM'), 0)
    assert.deepEqual(pids.filter(isAlive), [])
  })
})

describe('workers that have no room for another connection', () => {
  it('close it, say so once, and take others again as soon as there is room', {
    skip: !existsSync('/proc'),
    timeout: 60_000,
  }, async (t) => {
    const premises = await Premises.open(t, sqlite, two)
    const service = await premises.start({}, { under: ['sh', '-c', 'ulimit -n 120; exec "$0" "$@"'] })
    const pids = await everyWorker(service)
    for (let round = 0; round < 2; round += 1) {
      const clients: Socket[] = []
      const statuses: string[] = []
      // Not all at once: the first process would have no room for them itself.
      while (clients.length < 300) {
        const more = times(10, () => connect(Number(new URL(service.url).port), '127.0.0.1'))
        clients.push(...more)
        statuses.push(...(await Promise.all(more.map(healthOf))))
      }
      const served = statuses.filter((status) => status === '200').length
      assert.ok(served >= 60 && served < 240, `${served} were served`)
      for (const client of clients) client.destroy()
      const before = logged(service).length
      await eventually('both serve again', async () => {
        // Until they have noticed who is gone, they have no room for these either.
        await Promise.allSettled(times(9, () => onNewConnection(service)))
        const since = logged(service).slice(before)
        return pids.every((pid) => since.some((line) => line.pid === pid && line.msg === 'request'))
      })
    }
    const told = logged(service).filter(({ msg }) => msg.startsWith('connections are closed unanswered'))
    assert.deepEqual(new Set(told.map(({ pid }) => pid)), new Set(pids))
    assert.equal(told.length, 2, 'once a minute each')
  })
})

describe('a start with several workers', () => {
  it('of which one is killed says so', async (t) => {
    const [sqlite = assert.fail()] = engines
    const { environment } = await Premises.open(t, sqlite, two)
    const killed = 'import cluster from "cluster"; if (cluster.isWorker) process.kill(process.pid, "SIGKILL")'
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(killed)}`
    const ended = await failingStart({ ...environment, NODE_OPTIONS })
    assertRefusal(ended, /A worker was ended by SIGKILL as it started/, /memory/)
  })
})

/** Calls until every worker has answered once, and returns their process ids. */
async function everyWorker(service: CalledService, count = 2): Promise<number[]> {
  return eventually('every worker has answered', async () => {
    await Promise.all(times(9, () => onNewConnection(service)))
    const pids = answeringPids(service)
    return pids.length >= count && pids
  })
}

/** The status that is answered, or that none is. */
function healthOf(client: Socket): Promise<string> {
  client.write('GET /healthz HTTP/1.1\r\nHost: test\r\n\r\n')
  return new Promise((resolve) => {
    client.on('data', (chunk) => resolve(chunk.toString('latin1', 9, 12)))
    client.on('error', () => resolve('none'))
    client.on('close', () => resolve('none'))
  })
}

async function onNewConnection(service: CalledService): Promise<number> {
  const caller = new Caller(service.url, undefined, 1)
  try {
    return (await caller.call('GET', '/readyz')).status
  } finally {
    await caller.close()
  }
}
