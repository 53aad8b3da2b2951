import { resolve } from 'node:path'
import { didYouMean } from './did-you-mean.ts'
import { OperatorError } from './operator-error.ts'
import type { DatabaseLocation } from './store/open.ts'
import { parameterNames, postgresParameters, postgresServers } from './store/postgres-url.ts'
import { behindLinks } from './store/sqlite-presence.ts'
import { visibleAscii } from './tokens/format.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
type LogLevel = (typeof logLevels)[number]

export interface Config {
  port: number
  host: string
  database: DatabaseLocation
  masterKey: MasterKeySource
  apiToken: string | undefined
  workers: number
  rateLimit: number
  authFailureLimit: number
  metricsPort: number | undefined
  logLevel: LogLevel
  eventRetentionDays: number
}

/** Where the key ring comes from: the setting itself, or a file, which the first start makes beside a new database. */
export type MasterKeySource =
  | { kind: 'value'; keys: Buffer[] }
  | { kind: 'file'; path: string; besideDatabase?: string }
  | { kind: 'missing' }

export interface Setting {
  name: string
  default: string
  description: string
}

/** Every setting there is; docs/configuration.md shows the same table. */
export const settings = [
  { name: 'PORT', default: '8080', description: 'Port to listen on; 0 takes a free one.' },
  { name: 'HOST', default: '127.0.0.1', description: 'Address to listen on; `0.0.0.0` for all of them.' },
  {
    name: 'DATABASE_URL',
    default: 'sqlite:./data/user-groups.db',
    description: '`sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`.',
  },
  {
    name: 'UGS_MASTER_KEY',
    default: 'on SQLite `master.key` beside the database; required on PostgreSQL',
    description: '32 bytes in base64; several, newest first, separated by commas, form the key ring.',
  },
  { name: 'UGS_MASTER_KEY_FILE', default: 'none', description: 'A file that holds what UGS_MASTER_KEY would.' },
  {
    name: 'UGS_API_TOKEN',
    default: 'none',
    description:
      'An API token with all scopes for the first team, made sure of at every start; 16 to 255 visible ASCII characters.',
  },
  { name: 'UGS_WORKERS', default: '1', description: 'Processes that share the port, 1 to 64.' },
  {
    name: 'UGS_RATE_LIMIT',
    default: '0',
    description:
      'Requests a second for each API token, per process, with bursts of twice that, up to 1000000; 0 is off.',
  },
  {
    name: 'UGS_AUTH_FAILURE_LIMIT',
    default: '600',
    description: 'Failed authentications a minute from one address, per process, before it gets 429; 1 to 1000000000.',
  },
  { name: 'UGS_METRICS_PORT', default: 'off', description: 'Serve /metrics without a token on a port of its own.' },
  {
    name: 'UGS_EVENT_RETENTION_DAYS',
    default: '365',
    description:
      'How long the audit trail, and the memory of rotated tokens, goes back, up to 36500; 0 keeps everything.',
  },
  { name: 'UGS_LOG_LEVEL', default: 'info', description: 'trace, debug, info, warn, error, fatal or silent.' },
] as const satisfies Setting[]

type SettingName = (typeof settings)[number]['name']

export type Environment = Readonly<Record<string, string | undefined>>

/** All complaints at once, so that nobody mends a configuration one start at a time. */
export function readConfig(environment: Environment): Config {
  const problems: string[] = []
  const readIfSet = <T>(name: SettingName, parse: (text: string) => T): T | undefined => {
    const text = environment[name]
    if (text === undefined || text === '') return undefined
    try {
      return parse(text)
    } catch (error) {
      problems.push(`${name}: ${(error as Error).message}`)
      return undefined
    }
  }
  const read = <T>(name: SettingName, parse: (text: string) => T): T => readIfSet(name, parse) ?? parse(defaultOf(name))

  const named = read('DATABASE_URL', parseDatabase)
  const config: Config = {
    port: read('PORT', (text) => integer(text, 0, 65535, 'a port number')),
    host: read('HOST', String),
    database: named.engine === 'sqlite' ? { ...named, path: behindLinks(named.path) } : named,
    apiToken: readIfSet('UGS_API_TOKEN', parseApiToken),
    workers: read('UGS_WORKERS', (text) => integer(text, 1, 64, 'a number of processes')),
    rateLimit: read('UGS_RATE_LIMIT', (text) => integer(text, 0, 1e6, 'a number of requests a second')),
    authFailureLimit: read('UGS_AUTH_FAILURE_LIMIT', (text) => integer(text, 1, 1e9, 'a number of failures')),
    metricsPort: readIfSet('UGS_METRICS_PORT', (text) => integer(text, 0, 65535, 'a port number')),
    eventRetentionDays: read('UGS_EVENT_RETENTION_DAYS', (text) => integer(text, 0, 36_500, 'a number of days')),
    logLevel: read('UGS_LOG_LEVEL', parseLogLevel),
    masterKey: masterKeySource(
      readIfSet('UGS_MASTER_KEY', parseMasterKeys),
      readIfSet('UGS_MASTER_KEY_FILE', (text) => resolve(text)),
      named,
    ),
  }
  if (environment.UGS_MASTER_KEY && environment.UGS_MASTER_KEY_FILE)
    problems.push('UGS_MASTER_KEY: set either this or UGS_MASTER_KEY_FILE, not both')
  if (config.masterKey.kind === 'missing' && !environment.UGS_MASTER_KEY)
    problems.push(`UGS_MASTER_KEY: required with PostgreSQL; make one with: ${makeMasterKey}`)
  if (config.metricsPort !== 0 && config.metricsPort === config.port)
    problems.push(`UGS_METRICS_PORT: ${config.port} is the port of the service already`)
  problems.push(...unknownSettings(environment))
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

export class ConfigError extends OperatorError {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
    super(
      `The settings have ${count}:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
      'Correct them and start again; docs/configuration.md lists every setting.',
    )
    this.problems = problems
  }
}

/** What to run for a new one. */
export const makeMasterKey = `node -p "crypto.randomBytes(32).toString('base64')"`

/** 32 bytes each, in base64; the message never repeats the text, which is a secret. */
export function parseMasterKeys(text: string): Buffer[] {
  const keys = text.split(',').map((part) => part.trim())
  return keys.map((key, index) => {
    const bytes = Buffer.from(key, 'base64')
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(key) || bytes.length !== 32)
      throw new Error(`key ${index + 1} of ${keys.length} is not 32 bytes in base64`)
    if (keys.indexOf(key) !== index) throw new Error(`key ${index + 1} of ${keys.length} is there twice`)
    return bytes
  })
}

function masterKeySource(
  keys: Buffer[] | undefined,
  keyFile: string | undefined,
  named: DatabaseLocation,
): MasterKeySource {
  if (keys) return { kind: 'value', keys }
  if (keyFile) return { kind: 'file', path: keyFile }
  if (named.engine === 'sqlite')
    return { kind: 'file', path: resolve(named.path, '../master.key'), besideDatabase: behindLinks(named.path) }
  return { kind: 'missing' }
}

function defaultOf(name: SettingName): string {
  return settings.find((setting) => setting.name === name)?.default ?? ''
}

function parseDatabase(text: string): DatabaseLocation {
  if (/^postgres(ql)?:\/\/./.test(text)) {
    postgresServers(text)
    refuseUnknownParameter(text)
    return { engine: 'postgres', url: text }
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(text)?.[1]
  if (path === ':memory:' || path === '//:memory:')
    throw new Error('a database in memory would lose every token with the process: name a file')
  if (path === undefined || path.startsWith('//'))
    throw new Error('is neither sqlite:PATH nor postgres://USER:PASSWORD@HOST/DATABASE')
  // It would become a part of the name, and a new database be made there.
  if (/\?\w+=/.test(path)) throw new Error('sqlite:PATH takes no options: leave out what begins with ?')
  return { engine: 'sqlite', path: resolve(path) }
}

/** By its place, not its name: in a URL that is wrong, what looks like a name may be a part of the password. */
function refuseUnknownParameter(url: string): void {
  const names = parameterNames(url)
  const place = names.findIndex((name) => !postgresParameters.includes(name))
  if (place === -1) return
  const hint = didYouMean(names[place] ?? '', postgresParameters) || `; there are ${postgresParameters.join(', ')}`
  throw new Error(`parameter ${place + 1} of ${names.length} is unknown${hint}`)
}

function parseApiToken(text: string): string {
  if (!visibleAscii.test(text)) throw new Error('must be 16 to 255 visible ASCII characters')
  if (text.startsWith('ugt_')) throw new Error('is a user group token (ugt_…), not an API token')
  return text
}

function parseLogLevel(text: string): LogLevel {
  const level = logLevels.find((candidate) => candidate === text)
  if (level === undefined) throw new Error(`${JSON.stringify(text)} is not one of ${logLevels.join(', ')}`)
  return level
}

function integer(text: string, least: number, most: number, what: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < least || number > most)
    throw new Error(`${JSON.stringify(text)} is not ${what} from ${least} to ${most}`)
  return number
}

function unknownSettings(environment: Environment): string[] {
  const known: string[] = settings.map((setting) => setting.name)
  const unknown = Object.keys(environment).filter((name) => name.startsWith('UGS_') && !known.includes(name))
  return unknown.map((name) => {
    const bare = name.replace('UGS_', '')
    const hint = isServiceLink(name, environment[name])
      ? ' (from a Service of Kubernetes? set enableServiceLinks: false for the pod)'
      : didYouMean(known.includes(bare) ? bare : name, known)
    return `${name}: unknown setting${hint}`
  })
}

/** Such as each pod gets for a Service named ugs; UGS_PORT is one of them, and then an address. */
function isServiceLink(name: string, value = ''): boolean {
  return /_SERVICE_(HOST|PORT)|_PORT_\d+_(TCP|UDP|SCTP)/.test(name) || /^(tcp|udp|sctp):\/\//.test(value)
}
