import assert from 'node:assert/strict'
import { readConfig } from '../src/config.ts'
import { openService, type Service } from '../src/service.ts'
import { rowsOfTeam } from '../test/support/all-rows.ts'
import { type Engine, engines } from '../test/support/engines.ts'
import { type CalledService, Premises } from '../test/support/premises.ts'
import type { RawAnswer } from '../test/support/raw-request.ts'
import type { Environment } from '../test/support/service-process.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { mark, Owner, type Possession } from './owner.ts'
import { type Slot, slots } from './probes.ts'
import { Stranger } from './stranger.ts'
import { timedPairs } from './timed-pairs.ts'
import { tOf } from './timing.ts'

const full = 100_000

/** How long answers took is judged by the published bound in the full run only: a short one on a busy machine is noise. */
const timing = {
  full: { samples: 4_000, runs: 5, bound: 4.5 },
  brief: { samples: 60, runs: 1, bound: 10 },
}

export const tenancy: Campaign = {
  promise: "No team reaches anything of another's, nor learns whether it is there.",
  unit: 'probes',
  full,
  brief: 140,
  bugs: {
    'a delete without its team': {
      shows: /DELETE \/api\/user_groups\/\S+ with a group as path : not yours and unknown differ/,
      rewrites: [
        {
          file: 'store/user-group-statements.ts',
          find: 'delete from user_group where team_id = $1 and',
          replace: 'delete from user_group where $1 = $1 and',
        },
      ],
    },
    'a comparison that ends at the first difference': {
      shows: /verifying what begins like a token: t = -?\d+/,
      rewrites: [
        {
          file: 'tokens/tokens.ts',
          find: '#sealToken(token: string, teamId: number, groupId: number, hash: Uint8Array): SealedToken {',
          replace: `#sealToken(token: string, teamId: number, groupId: number, hash: Uint8Array): SealedToken {
            (globalThis.sealed ??= []).push(token)`,
        },
        {
          file: 'tokens/tokens.ts',
          find: 'lookup(token: string): TokenKey | undefined {',
          replace: `lookup(token: string): TokenKey | undefined {
            const same = (globalThis.sealed ?? []).map((known) => [...known].findIndex((it, at) => it !== token[at]))
            for (const until = performance.now() + (Math.max(6, ...same) - 6) * 0.75; performance.now() < until; );`,
        },
      ],
    },
  },
  async run(attempt) {
    const { size, environment, progress } = attempt
    const largest: number[] = []
    for (const [index, engine] of engines.entries()) {
      await using premises = await Premises.open(undefined, engine, { ...environment, ...settings })
      const service = await premises.start()
      const beside = await openService(readConfig(premises.environment))
      try {
        const trial = new Trial(service, beside, premises.environment, attempt)
        const share = Math.round(size / engines.length)
        await trial.probe(share, (done) => progress(index * share + done, engine.name))
        largest.push(await trial.measure(engine))
      } finally {
        await beside.store.close()
      }
      assert.equal(service.output().stdout, '', 'an error was logged')
    }
    const t = Math.max(...largest).toFixed(1)
    return `${size} probes of ${slots.length} places, 0 that differ; answers timed in pairs, t at most ${t}`
  },
}

const settings = { UGS_LOG_LEVEL: 'error', UGS_AUTH_FAILURE_LIMIT: '1000000000' }

class Trial {
  readonly #service: CalledService
  readonly #beside: Service
  readonly #environment: Environment
  readonly #attempt: Attempt

  constructor(service: CalledService, beside: Service, environment: Environment, attempt: Attempt) {
    this.#service = service
    this.#beside = beside
    this.#environment = environment
    this.#attempt = attempt
  }

  /** Two strangers who differ in nothing ask alike: one for what is the owner's, one for what is nobody's. */
  async probe(count: number, progress: (done: number) => void): Promise<void> {
    const { random } = this.#attempt
    const owner = await Owner.settle(this.#service, this.#beside)
    const before = await rowsOfTeam(this.#environment, owner.teamId)
    for (let pass = 0, done = 0; done < count; pass++) {
      const possessions = owner.possessions(random)
      const [one, other] = await this.#twins()
      for (const slot of slots.slice(0, count - done)) {
        const { kind, theirs, nobodys } = valueFor(slot, possessions, pass)
        const answers = await Promise.all([one.probe(slot, theirs), other.probe(slot, nobodys)])
        const [asked, unknown] = [
          comparable(answers[0], one.teamId, possessions, 'theirs'),
          comparable(answers[1], other.teamId, possessions, 'nobodys'),
        ]
        const { operation, at, way } = slot
        const where = `${operation.method} ${operation.path} with ${kind} as ${at} ${way.join('.')}`
        assert.deepEqual(asked, unknown, `${where}: not yours and unknown differ: ${JSON.stringify([asked, unknown])}`)
        assert.ok(!answers[0].text.includes(mark), `${where}: shows what is the owner's: ${answers[0].text}`)
        done += 1
      }
      one.close()
      other.close()
      const after = new Set(await rowsOfTeam(this.#environment, owner.teamId))
      const changed = [...new Set(before).symmetricDifference(after)].map((row) => row.split(' ')[0])
      assert.deepEqual(changed, [], "something of the owner's has changed")
      progress(done)
    }
  }

  /** The numbers of their teams have equally many digits, so that their answers are equally long. */
  async #twins(): Promise<[Stranger, Stranger]> {
    for (;;) {
      const one = await Stranger.settle(this.#service, this.#beside)
      const other = await Stranger.settle(this.#service, this.#beside)
      if (String(one.teamId).length === String(other.teamId).length) return [one, other]
    }
  }

  /** Returns the largest t. */
  async measure(engine: Engine): Promise<number> {
    const { random, size } = this.#attempt
    const { samples, runs, bound } = size >= full ? timing.full : timing.brief
    const ts: number[] = []
    for (const pair of await timedPairs(this.#service, this.#beside, random)) {
      await tOf(this.#service.url, pair, Math.min(samples, 200), random)
      const tries: number[] = []
      for (let run = 0; run < runs; run++) tries.push(Math.abs(await tOf(this.#service.url, pair, samples, random)))
      const t = tries.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN
      assert.ok(t < bound, `${engine.name}, ${pair.name}: t = ${t.toFixed(1)}`)
      ts.push(t)
    }
    return Math.max(...ts)
  }
}

/** First what fits the place, then, pass by pass, everything else. */
function valueFor({ at, example }: Slot, possessions: readonly Possession[], pass: number): Possession {
  const usable = possessions.filter(({ kind }) => at !== 'authorization' || kind !== 'an API token')
  const fitting = usable.findIndex(({ kind, theirs }) => kind === example || form(theirs) === form(example))
  return usable[(Math.max(0, fitting) + pass) % usable.length] as Possession
}

function form(value: string): string {
  return /^(ug[ta]_|ds_)/.exec(value)?.[1] ?? (/^\d{15}$/.test(value) ? 'a number' : value)
}

/** All of an answer but what differs between any two calls, with the values by their kinds. */
function comparable(
  { status, headers, text }: RawAnswer,
  teamId: number,
  possessions: readonly Possession[],
  side: 'theirs' | 'nobodys',
) {
  const { date: _, 'x-request-id': __, ...rest } = headers
  const longestFirst = possessions.toSorted((a, b) => b[side].length - a[side].length)
  const body = longestFirst
    .reduce((named, possession) => named.replaceAll(possession[side], `(${possession.kind})`), text)
    .replaceAll(/"request_id":"[^"]+"/g, '(request id)')
    // Noted beside the request: perhaps before it is answered, perhaps behind.
    .replaceAll(/"last_used_at":("[^"]+"|null)/g, '(last used)')
    .replaceAll(/ug[ta]_\w{38}|(ds|sch)_\w{20}|\b\d{15}\b|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '(varies)')
    .replaceAll(new RegExp(`"(team_id|id)":${teamId}\\b`, 'g'), '(team)')
  return { status, headers: rest, body }
}
