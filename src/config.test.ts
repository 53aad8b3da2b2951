import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { problemsOf } from '../test/support/problems-of.ts'
import { type Config, type Environment, logLevels, readConfig, settings } from './config.ts'

const key = randomBytes(32).toString('base64')
const otherKey = randomBytes(32).toString('base64')
const postgres = 'postgres://ugs:hunter2@db.example/ugs'
const twoServers = 'postgres://ugs:hunter2@db1.example:5432,[::1]:5433/ugs?target_session_attrs=read-write'

type SettingName = (typeof settings)[number]['name']
type Reading = [text: string, read: (config: Config) => unknown, value: unknown]

/** For every setting: texts and what they become, and texts that are refused. */
const cases: Record<SettingName, { good: Reading[]; bad: string[]; beside?: Environment }> = {
  PORT: {
    good: [
      ['0', (config) => config.port, 0],
      ['9000', (config) => config.port, 9000],
      ['65535', (config) => config.port, 65535],
    ],
    bad: ['65536', '-1', '80a', '8e3', '0x50', '80.5', ' 80', '80\n', '٣', 'http'],
  },
  HOST: {
    good: [
      ['0.0.0.0', (config) => config.host, '0.0.0.0'],
      ['::1', (config) => config.host, '::1'],
      ['localhost', (config) => config.host, 'localhost'],
    ],
    bad: [],
  },
  DATABASE_URL: {
    good: [
      ['sqlite:./a/b.db', (config) => config.database, { engine: 'sqlite', path: resolve('a/b.db') }],
      ['sqlite:/a/b.db', (config) => config.database, { engine: 'sqlite', path: '/a/b.db' }],
      ['sqlite:///a/b.db', (config) => config.database, { engine: 'sqlite', path: '/a/b.db' }],
      [postgres, (config) => config.database, { engine: 'postgres', url: postgres }],
      ['postgresql://db/ugs', (config) => config.database, { engine: 'postgres', url: 'postgresql://db/ugs' }],
      [twoServers, (config) => config.database, { engine: 'postgres', url: twoServers }],
      ...[
        'postgres:///ugs?host=/run/postgresql&port=5433&user=ugs&password=hunter2',
        'postgres://db/ugs?ssl=true&sslmode=verify-full&sslrootcert=/ca&sslcert=/c&sslkey=/k&sslnegotiation=direct',
        'postgres://db/ugs?uselibpqcompat=true&client_encoding=utf8&options=-c%20work_mem=64MB#?frobnicate=1',
        'postgres://db/ugs?application_name=a&fallback_application_name=b&statement_timeout=1&lock_timeout=1',
        'postgres://ugs@db/ugs?application_name=a@b&user=ugs@db&password=a?b@c',
        'postgres://db/ugs?query_timeout=1&idle_in_transaction_session_timeout=1&replication=false',
      ].map((url): Reading => [url, (config) => config.database, { engine: 'postgres', url }]),
    ],
    bad: [
      'mysql://ugs:hunter2@db/ugs',
      'postgres://ugs:hunter2@db1,,db2/ugs',
      'postgres://ugs:x@hunter2#@db/ugs',
      'postgres://ugs:x@hunter2/@db/ugs',
      'postgres://ugs:x@hunter2?@db/ugs',
      'postgres://ugs:hunter2?x=1&@db/ugs',
      'postgres://ugs:hunter2@/ugs?host=db1,db2',
      'postgres://ugs:hunter2@db1/ugs?host=db1,db2',
      'postgres://ugs:hunter2@db1,db2/ugs?target_session_attrs=standby',
      'postgres://ugs:hunter2@db/ugs?ssl_mode=verify-full',
      'postgres://ugs:x@db/ugs?password=&hunter2',
      'postgres:hunter2',
      'postgres://',
      'sqlite:',
      'sqlite::memory:',
      'sqlite:/a/b.db?mode=ro',
      './a.db',
      'no',
    ],
    beside: { UGS_MASTER_KEY: key },
  },
  UGS_MASTER_KEY: {
    good: [
      [key, keysOf, [key]],
      [key.replace('=', ''), keysOf, [key]],
      [Buffer.from(key, 'base64').toString('base64url'), keysOf, [key]],
      [`${key},${otherKey}`, keysOf, [key, otherKey]],
      [` ${key} , ${otherKey}\n`, keysOf, [key, otherKey]],
    ],
    bad: [
      ...['short', key.slice(1), `${key}A`, `*${key.slice(1)}`, `${key},`, `${key} ${otherKey}`, `${key},${key}`],
      ...[randomBytes(31), randomBytes(33), randomBytes(16)].map((bytes) => bytes.toString('base64')),
      randomBytes(32).toString('hex'),
    ],
  },
  UGS_MASTER_KEY_FILE: {
    good: [['keys/ring', (config) => config.masterKey, { kind: 'file', path: resolve('keys/ring') }]],
    bad: [],
  },
  UGS_API_TOKEN: {
    good: [
      ['x'.repeat(16), (config) => config.apiToken, 'x'.repeat(16)],
      ['~'.repeat(255), (config) => config.apiToken, '~'.repeat(255)],
      ['uga_chosen_by_hand', (config) => config.apiToken, 'uga_chosen_by_hand'],
    ],
    bad: [
      'x'.repeat(15),
      'x'.repeat(256),
      'secret with spaces',
      'sécret-sécret-sécret',
      `${'x'.repeat(20)}\n`,
      'ugt_0123456789abcdef',
    ],
  },
  UGS_WORKERS: {
    good: [
      ['1', (config) => config.workers, 1],
      ['64', (config) => config.workers, 64],
    ],
    bad: ['0', '65', '-1', '1.5', 'two', 'auto'],
  },
  UGS_RATE_LIMIT: {
    good: [
      ['0', (config) => config.rateLimit, 0],
      ['50', (config) => config.rateLimit, 50],
    ],
    bad: ['-1', '0.5', '50/s', 'off', '1000001'],
  },
  UGS_AUTH_FAILURE_LIMIT: {
    good: [
      ['1', (config) => config.authFailureLimit, 1],
      ['600', (config) => config.authFailureLimit, 600],
    ],
    bad: ['0', '-1', 'many', 'Infinity'],
  },
  UGS_METRICS_PORT: {
    good: [
      ['0', (config) => config.metricsPort, 0],
      ['9100', (config) => config.metricsPort, 9100],
    ],
    bad: ['65536', '-1', 'off', 'true', '8080'],
  },
  UGS_EVENT_RETENTION_DAYS: {
    good: [
      ['0', (config) => config.eventRetentionDays, 0],
      ['30', (config) => config.eventRetentionDays, 30],
    ],
    bad: ['-1', '0.5', '30d', 'never', '36501'],
  },
  UGS_LOG_LEVEL: {
    good: logLevels.map((level): Reading => [level, (config) => config.logLevel, level]),
    bad: ['INFO', 'verbose', 'warning', '30'],
  },
}

function keysOf({ masterKey }: Config): unknown {
  return masterKey.kind === 'value' ? masterKey.keys.map((bytes) => bytes.toString('base64')) : masterKey
}

describe('the settings', () => {
  it('are all tested here', () => {
    assert.deepEqual(Object.keys(cases).sort(), settings.map(({ name }) => name).sort())
  })

  for (const [name, { good, bad, beside }] of Object.entries(cases)) {
    it(`take every good ${name}`, () => {
      for (const [text, read, value] of good)
        assert.deepEqual(read(readConfig({ ...beside, [name]: text })), value, JSON.stringify(text))
    })

    it(`refuse every bad ${name}, with one problem that names it`, () => {
      for (const text of bad) {
        const problems = problemsOf({ ...beside, [name]: text })
        assert.equal(problems.length, 1, `${JSON.stringify(text)}: ${problems}`)
        assert.match(String(problems[0]), new RegExp(`^${name}: .`))
      }
    })

    it(`treat an empty ${name} as one that is not set`, () => {
      assert.deepEqual(readConfig({ ...beside, [name]: '' }), readConfig({ ...beside }))
    })
  }

  it('lead through links to the file of a database, there or not, and to the master key beside the first of them', (t) => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ugs-links-')))
    t.after(() => rmSync(folder, { recursive: true }))
    const [link, second, file] = [join(folder, 'data/link.db'), join(folder, 'second.db'), join(folder, 'real.db')]
    mkdirSync(join(folder, 'data'))
    symlinkSync('../second.db', link)
    symlinkSync(file, second)
    const { database, masterKey } = readConfig({ DATABASE_URL: `sqlite:${link}` })
    assert.deepEqual(database, { engine: 'sqlite', path: file })
    assert.deepEqual(masterKey, { kind: 'file', path: join(folder, 'data/master.key'), besideDatabase: file })
    symlinkSync(link, file)
    assert.equal(readConfig({ DATABASE_URL: `sqlite:${link}` }).database.engine, 'sqlite', 'not even in a circle')
  })

  it('have a default for each, which needs no database server and no secret', () => {
    const database = resolve('data/user-groups.db')
    assert.deepEqual(readConfig({ PATH: '/bin', HOME: '/root', port: '1' }), {
      port: 8080,
      host: '127.0.0.1',
      database: { engine: 'sqlite', path: database },
      masterKey: { kind: 'file', path: resolve('data/master.key'), besideDatabase: database },
      apiToken: undefined,
      workers: 1,
      rateLimit: 0,
      authFailureLimit: 600,
      metricsPort: undefined,
      eventRetentionDays: 365,
      logLevel: 'info',
    })
  })

  it('say why a database cannot be in memory', () => {
    for (const url of ['sqlite::memory:', 'sqlite://:memory:'])
      assert.match(problemsOf({ DATABASE_URL: url }).join(), /^DATABASE_URL: .+ would lose every token/)
  })

  it('require a master key with PostgreSQL, and say how to make one', () => {
    const [problem, ...more] = problemsOf({ DATABASE_URL: postgres })
    assert.match(problem ?? '', /^UGS_MASTER_KEY: required .*randomBytes\(32\)/)
    assert.equal(more.length, 0)
    assert.deepEqual(problemsOf({ DATABASE_URL: postgres, UGS_MASTER_KEY_FILE: 'keys' }), [])
  })

  it('refuse two sources of the master key', () => {
    assert.equal(problemsOf({ UGS_MASTER_KEY: key, UGS_MASTER_KEY_FILE: 'keys' }).length, 1)
  })
})

describe('a configuration with several mistakes', () => {
  it('is refused with all of them at once', () => {
    const mistakes = Object.entries(cases).flatMap(([name, { bad }]) => (bad[0] === undefined ? [] : [[name, bad[0]]]))
    const problems = problemsOf({ ...Object.fromEntries(mistakes), UGS_RATE_LIMT: '5' })
    assert.deepEqual(
      problems.map((problem) => problem.split(':')[0]).sort(),
      [...mistakes.map(([name]) => name), 'UGS_RATE_LIMT'].sort(),
    )
  })

  it('counts and lists them in the message, one on a line', () => {
    assert.throws(() => readConfig({ PORT: '80a', UGS_WORKERS: '0' }), {
      name: 'OperatorError',
      message: /2 problems:\n {2}PORT: "80a" is not a port number from 0 to 65535\n {2}UGS_WORKERS: "0" is not/,
      remedy: /docs\/configuration\.md/,
    })
    assert.throws(() => readConfig({ PORT: '80a' }), { message: /1 problem:/ })
  })
})

describe('a complaint about a setting', () => {
  it('never repeats a secret', () => {
    for (const name of ['UGS_MASTER_KEY', 'UGS_API_TOKEN', 'DATABASE_URL'] as const)
      for (const text of cases[name].bad) {
        const message = problemsOf({ [name]: text }).join()
        for (const secret of name === 'DATABASE_URL' ? ['hunter2'] : text.split(','))
          if (secret !== '') assert.equal(message.includes(secret.trim()), false, message)
      }
    assert.equal(problemsOf({ UGS_MASTER_KEEY: key, PORT: 'x' }).join().includes(key), false)
  })
})
