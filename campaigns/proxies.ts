import assert from 'node:assert/strict'
import { engines } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { type CalledService, Premises } from '../test/support/premises.ts'
import { testApiToken, ugs } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import { ambiguousRequests, provoke } from './ambiguous-requests.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { type RunningProxy, startProxy, versionOf } from './proxy-process.ts'
import { type ProxyProgram, type ProxySetup, proxySetups } from './proxy-setups.ts'
import { assertNotStorable, assertOrder, BackEnd, type Team } from './proxy-traffic.ts'

export const proxies: Campaign = {
  promise:
    'Behind a proxy a GET keeps its body or fails loudly, nobody is given what is another’s, nothing is smuggled.',
  unit: 'requests through each proxy',
  full: 10_000,
  brief: 40,
  lacks: () => noneOf(proxySetups),
  bugs: {
    'answers that may be stored': {
      lacks: () => noneOf(proxySetups.filter(({ isCareless }) => isCareless)),
      shows: /asked for ".+" and was given ".+"/,
      rewrites: [{ file: 'http/exchange.ts', find: `'Cache-Control', 'no-store', `, replace: '' }],
    },
    'a lost body taken for some body': {
      shows: /asked for ".+" and was given "nobody"/,
      rewrites: [
        {
          file: 'http/operation.ts',
          find: `throw new ServiceError('missing_body'`,
          replace: `return validate({ user_group_id: 'nobody' })
          throw new ServiceError('missing_body'`,
        },
      ],
    },
    'a body taken for a request': {
      shows: /has let a request through that was hidden in "/,
      rewrites: [
        {
          file: 'http/body.ts',
          find: `request.on('end', () => {`,
          replace: `request.on('end', () => {
          const text = String(body?.subarray(0, length))
          const [, id] = /^X-Request-Id: (.+)\\r$/m.exec(text) ?? []
          const headers = { authorization: request.headers.authorization, 'x-request-id': id }
          if (id) void fetch('http://127.0.0.1:' + request.socket.localPort + '/api/events', { headers })`,
        },
      ],
    },
  },
  async run(attempt) {
    const [engine] = engines
    assert.ok(engine)
    const settings = { ...attempt.environment, UGS_AUTH_FAILURE_LIMIT: '1000000000' }
    const premises = await Premises.open(undefined, engine, settings)
    const running: RunningProxy[] = []
    try {
      const service = await premises.start()
      const [teams] = await Promise.all([twoTeams(premises), startAll(new URL(service.url), running)])
      const attacks = await goThrough(running, teams, attempt)
      for (const proxy of running) await assertNotStorable(proxy, testApiToken)
      await assertNothingSmuggled(service)
      return `${attempt.size} requests and ${attacks} ambiguous ones through each of ${inWords(running)}; 0 mixed up, 0 smuggled`
    } finally {
      await Promise.all(running.map((proxy) => proxy.stop()))
      await premises.close()
    }
  },
}

/** A process that ends at its start must not leave the others behind. */
async function startAll(service: URL, running: RunningProxy[]): Promise<void> {
  const installed = proxySetups.filter(({ program }) => versionOf(program) !== undefined)
  const starts = await Promise.allSettled(
    installed.map(async (setup) => {
      running.push(await startProxy(setup, service))
    }),
  )
  for (const start of starts) if (start.status === 'rejected') throw start.reason
}

/** They use the same ids: only the Authorization header tells their requests apart. */
async function twoTeams({ environment }: Premises): Promise<Team[]> {
  const team = await ugs(environment, 'team', 'create', 'Second team')
  assert.equal(team.code, 0, team.stderr)
  const token = await ugs(environment, 'api-token', 'create', 'second', '--team', '2', '--scope', 'admin')
  assert.equal(token.code, 0, token.stderr)
  return [
    { id: 1, apiToken: testApiToken },
    { id: 2, apiToken: token.stdout.trim() },
  ]
}

/** All proxies at once, and the ambiguous requests among the others: a poisoned connection would show in their answers. */
async function goThrough(running: readonly RunningProxy[], teams: readonly Team[], attempt: Attempt): Promise<number> {
  let done = 0
  const progress = () => {
    done += 1
    if (done % running.length === 0) attempt.progress(done / running.length)
  }
  const attacks = running.map(async (proxy) => {
    await assertOrder(proxy, testApiToken)
    await assertRefusal(proxy)
    const backEnds = teams.flatMap((team) => times(3, (index) => new BackEnd(proxy, team, `${proxy.name} ${index}`)))
    let left = attempt.size
    const work = backEnds.map(async (backEnd) => {
      while (left-- > 0) {
        await backEnd.ask(attempt.random)
        progress()
      }
    })
    const attack = async () => {
      let sent = 0
      do sent += await sendAmbiguous(proxy)
      while (left > 0)
      return sent
    }
    const [sent] = await Promise.all([attack(), ...work])
    await Promise.all(backEnds.map((backEnd) => backEnd.close()))
    return sent
  })
  return Math.min(...(await Promise.all(attacks)))
}

/** What is hidden in the ambiguous requests: were it let through in plain sight, nothing could be told from its arrival. */
async function assertRefusal({ name, url }: RunningProxy): Promise<void> {
  const { status } = await fetch(`${url}/api/events`, { headers: { authorization: `Token ${testApiToken}` } })
  assert.equal(status, 403, `${name} does not refuse /api/events`)
}

async function sendAmbiguous({ name, url }: RunningProxy): Promise<number> {
  const requests = ambiguousRequests(testApiToken, (place) => smuggledId(name, place))
  await Promise.all(requests.map(([, bytes]) => provoke(url, bytes)))
  return requests.length
}

const smuggled = 'smuggled:'

function smuggledId(proxy: string, place: string): string {
  return `${smuggled}${proxy}:${place}`.replaceAll(/[^\w:]+/g, '-')
}

async function assertNothingSmuggled(service: CalledService): Promise<void> {
  await service.caller.call('GET', '/healthz', { headers: { 'x-request-id': 'the-last-request' } })
  const log = () => service.output().stdout
  await eventually('the log is complete', () => log().includes('"the-last-request"'))
  const [, found] = new RegExp(`"request_id":"${smuggled}([^"]+)"`).exec(log()) ?? []
  if (found === undefined) return
  const [proxy, place] = found.replaceAll('-', ' ').split(':')
  assert.fail(`${proxy} has let a request through that was hidden in "${place}"`)
}

function inWords(running: readonly RunningProxy[]): string {
  const versions = [...programsOf(proxySetups)].map((program) => [program.command, versionOf(program)] as const)
  const there = versions.filter(([, version]) => version !== undefined).map((each) => each.join(' '))
  const absent = versions.filter(([, version]) => version === undefined).map(([command]) => command)
  const note = absent.length === 0 ? '' : `, not on the PATH: ${absent.join(', ')}`
  return `${running.length} set-ups of ${there.join(', ')}${note}`
}

function programsOf(setups: readonly ProxySetup[]): Set<ProxyProgram> {
  return new Set(setups.map(({ program }) => program))
}

function noneOf(setups: readonly ProxySetup[]): string | undefined {
  const programs = [...programsOf(setups)]
  if (programs.some((program) => versionOf(program) !== undefined)) return undefined
  return `none of these is on the PATH: ${programs.map(({ command }) => command).join(', ')}`
}
