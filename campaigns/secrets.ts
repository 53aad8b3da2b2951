import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Canaries, searchFor } from '../test/support/canaries.ts'
import { CarelessCaller } from '../test/support/careless-caller.ts'
import { Carelessness, canary } from '../test/support/carelessness.ts'
import { type Engine, engines } from '../test/support/engines.ts'
import { eventually } from '../test/support/eventually.ts'
import { Premises } from '../test/support/premises.ts'
import { rawSql } from '../test/support/raw-database.ts'
import type { Environment, ServiceProcess } from '../test/support/service-process.ts'
import { times } from '../test/support/times.ts'
import type { Attempt, Campaign } from './campaign.ts'
import { CarelessOperator } from './careless-operator.ts'
import { commandLines, filesIn, type Place, postgresPlaces } from './secret-places.ts'

export const secrets: Campaign = {
  promise: 'Secrets stay secret: a token, key, connection or password is nowhere but where it is handed out.',
  unit: 'rounds on each engine',
  full: 100,
  brief: 1,
  bugs: {
    'a token in the log': {
      on: 'SQLite',
      shows: /the log: .*token/,
      rewrites: [
        {
          file: 'app.ts',
          find: '{ id, operation, caller }: Exchange',
          replace: '{ id, operation, caller, request }: Exchange',
        },
        { file: 'app.ts', find: 'request_id: id,', replace: 'request_id: id, sent: request.headers.authorization,' },
      ],
    },
    'the plain text behind what is sealed': {
      shows: /\.db(-wal)?: .*connection/,
      rewrites: [
        {
          file: 'tokens/gcm.ts',
          find: 'Buffer.concat([nonce, text, this.#tag(text, context, stream)])',
          replace: 'Buffer.concat([nonce, text, this.#tag(text, context, stream), plain])',
        },
        {
          file: 'tokens/gcm.ts',
          find: 'if (sealed.length < overhead) return undefined',
          replace: 'sealed = sealed.subarray(0, (sealed.length + overhead) / 2)',
        },
      ],
    },
    'the settings in a diagnostic report': {
      shows: /report\.\S+: .*master key/,
      rewrites: [{ file: 'main.ts', find: 'process.report.excludeEnv = true', replace: '' }],
    },
  },
  async run(attempt) {
    const { engines } = attempt
    const done = engines.map(() => 0)
    // All of them to their end, so that none leaves a process behind when another fails.
    const ends = await Promise.allSettled(
      engines.map((engine, index) =>
        keepSecrets(engine, attempt, (round) => {
          done[index] = round
          attempt.progress(Math.min(...done))
        }),
      ),
    )
    const watches = ends.map((end) => {
      if (end.status === 'rejected') throw end.reason
      return end.value
    })
    const known = watches.reduce((sum, { secrets }) => sum + secrets.size, 0)
    const megabytes = watches.reduce((sum, { looked }) => sum + looked, 0) / 1024 ** 2
    return `${known} secrets in ${attempt.size} rounds on each engine, ${megabytes.toFixed(0)} MB looked through, 0 found`
  },
}

/** Remembers every secret there ever was, and looks for all of them everywhere. */
class Watch {
  readonly secrets: Canaries = new Map()
  looked = 0

  add(more: Canaries): void {
    for (const [name, secret] of more) this.secrets.set(`${name}, ${this.secrets.size}`, secret)
  }

  assertNone(places: readonly Place[], alsoNot: Canaries = new Map()): void {
    const search = searchFor(new Map([...this.secrets, ...alsoNot]))
    for (const { name, content } of places) {
      this.looked += content.length
      const found = search(content)
      assert.equal(found.length, 0, `${name}: ${found.join('; ')}`)
    }
  }
}

async function keepSecrets(engine: Engine, attempt: Attempt, onRound: (round: number) => void): Promise<Watch> {
  const watch = new Watch()
  const folder = mkdtempSync(join(tmpdir(), 'ugs-secrets-'))
  const password = canary('password')
  watch.add(new Map([['password of the database', password]]))
  await using premises = await Premises.open(undefined, withPassword(engine, password), {
    ...attempt.environment,
    NODE_OPTIONS: [attempt.environment.NODE_OPTIONS, `--report-on-signal --report-directory=${folder}`].join(' '),
    UGS_API_TOKEN: canary('api'),
    UGS_LOG_LEVEL: 'trace',
  })
  try {
    for (let round = 1; round <= attempt.size; round++) {
      // A command takes longer than a hundred calls: those that go right and those that go wrong take turns.
      const isRight = (round + engines.indexOf(engine)) % 2 === 1
      await oneRound(await premises.start(), premises.environment, folder, isRight, watch)
      onRound(round)
    }
    // Of a process that was killed: nothing was tidied up.
    watch.assertNone(await databasePlaces(premises))
  } finally {
    rmSync(folder, { recursive: true })
  }
  return watch
}

/** From the start of a service to its violent end. */
async function oneRound(
  service: ServiceProcess,
  environment: Environment,
  folder: string,
  isRight: boolean,
  watch: Watch,
): Promise<void> {
  const caller = new CarelessCaller(service.url, environment.UGS_API_TOKEN ?? '')
  const careless = new Carelessness(caller, environment)
  await careless.useEverything()
  await careless.misuseEverything()
  const operator = new CarelessOperator(environment, folder)
  const [token = ''] = [...careless.secrets.values()].filter((secret) => String(secret).startsWith('ugt_'))
  if (isRight) await Promise.all([operator.runCommands(), reported(service, folder)])
  const shown = await Promise.all(
    ['/metrics', '/api/events', '/api/user_groups', '/api/data_sources', '/api/api_tokens', '/readyz'].map(
      async (path): Promise<Place> => ({ name: path, content: (await caller.call('GET', path)).text }),
    ),
  )
  const processes = commandLines()
  if (!isRight) await operator.makeMistakes(String(token))
  await careless.breakTheDatabase()
  await duringOutage(environment, () => caller.call('GET', '/api/user', { user_group_id: 'anybody' }))
  await killedAtWork(service, caller)
  await caller.close()

  watch.add(new Map([...careless.secrets, ...operator.secrets]))
  const { stdout, stderr } = service.output()
  const refusals = caller.replies.filter(({ status }) => status >= 400).map(({ text }) => text)
  watch.assertNone([...operator.places, ...filesIn(folder), ...processes, ...shown])
  watch.assertNone(
    [
      { name: 'the log', content: stdout },
      { name: 'what is said to people', content: stderr },
      { name: 'the refusals', content: refusals.join('\n') },
    ],
    careless.business,
  )
}

/** PostgreSQL trusts whoever comes, with any password: so one can be set, and looked for. */
function withPassword(engine: Engine, password: string): Engine {
  return {
    ...engine,
    async freshDatabase() {
      const database = await engine.freshDatabase()
      if (engine.name === 'SQLite') return database
      const url = new URL(database.environment.DATABASE_URL)
      url.password = password
      return { ...database, environment: { ...database.environment, DATABASE_URL: url.href } }
    },
  }
}

/** A report as an operator gets it from Node on request. */
async function reported({ process }: ServiceProcess, folder: string): Promise<void> {
  const reports = () => filesIn(folder).filter(({ name }) => name.startsWith('report.')).length
  const before = reports()
  process.kill('SIGUSR2')
  await eventually('a diagnostic report is there', () => reports() > before)
}

/** Where the database is a server, it goes away for a moment. */
async function duringOutage(
  { DATABASE_URL = '' }: Environment,
  call: () => Promise<{ status: number }>,
): Promise<void> {
  if (DATABASE_URL.startsWith('sqlite:')) return
  const name = new URL(DATABASE_URL).pathname.slice(1)
  const server = { DATABASE_URL: process.env.TEST_POSTGRES_URL }
  await rawSql(server, `alter database ${name} allow_connections false`)
  await rawSql(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  assert.equal((await call()).status, 503)
  await rawSql(server, `alter database ${name} allow_connections true`)
}

async function killedAtWork(service: ServiceProcess, caller: CarelessCaller): Promise<void> {
  const calls = times(30, (index) => caller.call('GET', '/api/user', { user_group_id: `at work ${index}` }))
  await calls[0]
  await Promise.all([service.stop('SIGKILL'), Promise.allSettled(calls)])
}

/** Proves the search too: what is no secret is found there. */
async function databasePlaces({ database, environment }: Premises): Promise<Place[]> {
  const places = database.folder === undefined ? await postgresPlaces(environment) : filesIn(database.folder)
  assert.ok(
    places.some(({ content }) => content.includes('property-canary-')),
    'the search finds what is there',
  )
  return places
}
