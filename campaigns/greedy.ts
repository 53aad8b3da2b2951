import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { load } from '../bench/load.ts'
import { residentMegabytes } from '../bench/processes.ts'
import type { Workload } from '../bench/requests.ts'
import { engines } from '../test/support/engines.ts'
import { type CalledService, Premises } from '../test/support/premises.ts'
import { testApiToken } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { type Flooded, flood } from './flood.ts'
import { rewriting } from './rewriting.ts'
import { Siege, type Way } from './siege.ts'

const full = 2_000
const mostMegabytes = { slow: 50, hoarding: 75 }
const mostFlooded = 32 * 1024 ** 2
const alternations = 5
const hoarders = 100

/**
 * In milliseconds. A smaller run than the full one cannot wait as long: there the service loads with shorter ones. What
 * is still open at its limit is given so many turns of the service more, as the machine may have little time for it.
 */
const limits = {
  published: { headers: 10_000, request: 30_000, answer: 30_000, check: 1_000, turns: 100 },
  shortened: { headers: 1_000, request: 2_000, answer: 3_000, check: 100, turns: 90 },
}

type Limit = (typeof limits)['published']

const others: Workload = { name: 'others', operation: 'mix', spread: 50, apiToken: testApiToken }

export const greedy: Campaign = {
  promise: 'Slow and greedy clients starve nobody.',
  unit: 'slow connections',
  full,
  brief: 200,
  bugs: {
    'no time-outs': {
      shows: /dripping headers: \d+ still open/,
      rewrites: [
        {
          file: 'http/server.ts',
          find: '  answerOddRequests(server, underWay, onAnswered)',
          replace:
            '  answerOddRequests(server, underWay, onAnswered); server.headersTimeout = server.requestTimeout = 0',
        },
      ],
    },
    'no limit to a body': {
      shows: /10 GB, (announced|chunked): not cut off after [\d.]+ MB/,
      rewrites: [{ file: 'http/body.ts', find: 'bodyLimit = 256 * 1024', replace: 'bodyLimit = 2 ** 40' }],
    },
    'a body kept in as many pieces as it came': {
      shows: /grew by \d+ MB/,
      rewrites: [
        {
          file: 'http/body.ts',
          find: '  let length = 0',
          replace: '  let length = 0; const pieces: Buffer[] = []',
        },
        {
          file: 'http/body.ts',
          find: '    const before = length',
          replace: '    const before = length; pieces.push(chunk)',
        },
      ],
    },
    'a body in chunks that waits for its turn': {
      shows: /grew by \d+ MB/,
      rewrites: [
        {
          file: 'http/connections.ts',
          find: "request.headers['transfer-encoding'] === undefined",
          replace: 'true',
        },
      ],
    },
    'answers prepared for who does not read': {
      shows: /grew by \d+ MB/,
      rewrites: [
        {
          file: 'http/connections.ts',
          find: 'last === undefined || last.response.writableFinished',
          replace: 'true',
        },
      ],
    },
  },
  async run(attempt) {
    const [engine] = engines
    assert.ok(engine)
    const isFull = attempt.size >= full
    const environment = isFull ? attempt.environment : rewriting(shortenedLimits, attempt.environment)
    await using premises = await Premises.open(undefined, engine, { ...environment, UGS_LOG_LEVEL: 'error' })
    const service = await premises.start()
    await furnish(service)
    const memory = new Memory(service)
    const compared = isFull ? [await compare(service, attempt)] : []
    const endured = await endure(service, attempt.size, isFull ? limits.published : limits.shortened)
    const grown = memory.grownWithin(mostMegabytes.slow)
    attempt.progress(attempt.size, `resident memory +${grown} MB`)
    const grownFurther = await withstandHoarders(service, memory, isFull ? limits.published : limits.shortened)
    memory.end()
    assert.equal(service.output().stdout, '', 'nothing was logged as an error')
    const more = `${hoarders} who ask for ninety lists each`
    return [...compared, ...endured, `resident memory +${grown} MB at most, +${grownFurther} MB with ${more}`].join(
      '; ',
    )
  },
}

const shortenedLimits = [
  { file: 'http/server.ts', name: 'headersTimeout: ', from: '10_000', to: limits.shortened.headers },
  { file: 'http/server.ts', name: 'requestTimeout: ', from: '30_000', to: limits.shortened.request },
  { file: 'http/server.ts', name: 'connectionsCheckingInterval: ', from: '1_000', to: limits.shortened.check },
  { file: 'http/slow-readers.ts', name: 'takenWithin = ', from: '30_000', to: limits.shortened.answer },
].map(({ file, name, from, to }) => ({ file, find: name + from, replace: name + to }))

/** Groups whose list is large, and a service that has been at work: only what slow clients add counts afterwards. */
async function furnish({ caller, url }: CalledService): Promise<void> {
  const properties = { note: 'x'.repeat(2_000) }
  await Promise.all(times(200, (index) => caller.getOrCreate(`large ${index}`, { properties })))
  const headers = { authorization: `Token ${testApiToken}` }
  const read = async () => (await fetch(`${url}/api/user_groups?limit=200`, { headers })).arrayBuffer()
  for (let turn = 0; turn < 10; turn++) await Promise.all(times(20, read))
  await load({ url, workload: others, connections: 200, seconds: 3 })
}

function slowClients(size: number): Partial<Record<Way, number>> {
  const third = Math.floor(size / 3)
  const sixth = Math.floor(size / 6)
  const crumbling = 6
  const hiding = 20
  return {
    'dripping headers': third,
    'dripping a body': third - crumbling,
    'crumbling a body': crumbling,
    'not reading a list': sixth,
    'not reading a document': size - 2 * third - sixth - hiding,
    'not reading a document, and crumbling a body': hiding,
  }
}

/** The others' p99 with and without the slow ones, turn by turn, so that a noisy neighbour disturbs both alike. */
async function compare({ url }: CalledService, { size, progress }: Attempt): Promise<string> {
  const quiet: number[] = []
  const besieged: number[] = []
  const measure = async (p99s: number[]) => {
    const { errors, latencies } = await load({ url, workload: others, connections: 20, seconds: 15, rate: 200 })
    assert.equal(errors, 0, 'others were refused')
    p99s.push(latencies?.p99 ?? Number.POSITIVE_INFINITY)
  }
  for (let turn = 0; turn < alternations; turn++) {
    await measure(quiet)
    const siege = new Siege(url, testApiToken, 1_000)
    await siege.raise(slowClients(size), true)
    await pause(3_000)
    await measure(besieged)
    siege.lift()
    await pause(1_000)
    progress(Math.floor((size * (turn + 1)) / (alternations + 1)), `p99 ${quiet.at(-1)} and ${besieged.at(-1)} ms`)
  }
  const [before, during] = [median(quiet), median(besieged)]
  assert.ok(during <= 2 * before, `the p99 of the others rose from ${before} to ${during} ms`)
  return `p99 of the others ${before} ms without and ${during} ms with ${size} slow connections`
}

/** All at once: slow clients that stay until they are cut off, floods, and others who must not notice. */
async function endure(service: CalledService, size: number, limit: Limit): Promise<string[]> {
  const { url } = service
  const siege = new Siege(url, testApiToken, limit.check)
  await siege.raise(slowClients(size), false)
  const [served, cutOff, flooded] = await Promise.all([
    load({ url, workload: others, connections: 20, seconds: limit.request / 1000, rate: 100 }),
    watchCutOff(service, siege, limit),
    withstandFloods(service),
  ])
  siege.lift()
  assert.equal(served.errors, 0, 'others were refused')
  return [`${served.requests} requests of others served without an error`, cutOff, flooded]
}

/** Each way of being slow ends at its own limit: not earlier, and soon after. */
async function watchCutOff(service: CalledService, siege: Siege, limit: Limit): Promise<string> {
  const since = performance.now()
  const after = {
    'dripping headers': limit.headers,
    'dripping a body': limit.request,
    'crumbling a body': limit.request,
  }
  for (const [way, most] of Object.entries(after) as [Way, number][]) {
    await pause(Math.max(0, since + most - performance.now()))
    await untilCutOff(service, siege, way, limit)
  }
  const cut = siege.clients().filter(({ isOpen }) => !isOpen)
  for (const [way, most] of Object.entries(after)) {
    const here = cut.filter((client) => client.way === way)
    const least = Math.min(...here.map(({ age }) => age))
    assert.ok(least > most * 0.9, `${way}: cut off after ${Math.round(least)} ms already`)
    assert.deepEqual([...new Set(here.map(({ status }) => status))], [408], `${way}: what they were told`)
  }
  return `${cut.length} slow connections cut off at their limits`
}

async function untilCutOff({ caller }: CalledService, siege: Siege, way: Way, { turns }: Limit): Promise<void> {
  const open = () => siege.clients().filter((client) => client.way === way && client.isOpen).length
  // As long as some of them are cut off, the others are given their turns anew.
  for (let turn = 0, left = open(); turn < turns && left > 0; turn++) {
    await caller.call('GET', '/healthz')
    await pause(100)
    if (open() < left) turn = 0
    left = open()
  }
  assert.equal(open(), 0, `${way}: ${open()} still open behind the limit`)
}

/** A few more who each ask for ninety long lists at once, and read none. */
async function withstandHoarders(service: CalledService, memory: Memory, limit: Limit): Promise<number> {
  const { url } = service
  const siege = new Siege(url, testApiToken, limit.check)
  await siege.raise({ 'not reading many lists': hoarders }, false)
  const served = await load({ url, workload: others, connections: 20, seconds: limit.answer / 1000, rate: 100 })
  await untilCutOff(service, siege, 'not reading many lists', limit)
  const grown = memory.grownWithin(mostMegabytes.hoarding)
  siege.lift()
  assert.equal(served.errors, 0, 'others were refused')
  return grown
}

async function withstandFloods({ url }: CalledService): Promise<string> {
  const tries = [
    { framing: 'announced', apiToken: testApiToken, status: 413 },
    { framing: 'chunked', apiToken: testApiToken, status: 413 },
    { framing: 'chunked', apiToken: 'nobodys', status: 401 },
  ] as const
  const floods = await Promise.all(
    tries.map(async ({ framing, apiToken, status }): Promise<Flooded> => {
      const flooded = await flood(url, framing, apiToken)
      const { sent, wasCutOff, answer } = flooded
      assert.ok(wasCutOff && sent < mostFlooded, `10 GB, ${framing}: not cut off after ${megabytes(sent)} MB`)
      assert.ok(answer.startsWith(`HTTP/1.1 ${status} `), `10 GB, ${framing}: answered ${answer.slice(0, 200)}`)
      return flooded
    }),
  )
  return `10 GB cut off after ${megabytes(Math.max(...floods.map(({ sent }) => sent)))} MB at most`
}

/** The highest resident memory of the service since the beginning. */
class Memory {
  readonly #pid: number
  readonly #before: number
  readonly #watching: NodeJS.Timeout
  #most: number

  constructor({ process }: CalledService) {
    this.#pid = process.pid ?? 0
    this.#before = residentMegabytes(this.#pid)
    this.#most = this.#before
    this.#watching = setInterval(() => this.#look(), 200)
  }

  #look(): void {
    this.#most = Math.max(this.#most, residentMegabytes(this.#pid))
  }

  /** In megabytes more than at the beginning. */
  grownWithin(most: number): number {
    this.#look()
    const grown = this.#most - this.#before
    assert.ok(grown < most, `the resident memory grew by ${grown} MB`)
    return grown
  }

  end(): void {
    clearInterval(this.#watching)
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(1)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
