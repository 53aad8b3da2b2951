import { once } from 'node:events'
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import { isUsable } from '../api-tokens/api-token.ts'
import { systemClock } from '../clock.ts'
import { type Config, type MasterKeySource, readConfig } from '../config.ts'
import { loadKeyRing } from '../master-key.ts'
import { OperatorError } from '../operator-error.ts'
import { openStore } from '../store/open.ts'
import { isThere } from '../store/sqlite-presence.ts'
import type { Store } from '../store/store.ts'
import type { Tokens } from '../tokens/tokens.ts'
import { newKey, proveKeys } from '../unlock.ts'
import { counted } from './counted.ts'
import { explanation } from './explain.ts'
import { shortcomings } from './first-team.ts'
import { example } from './options.ts'
import { print, printJson } from './terminal.ts'

const leastRoom = 10e6

interface Finding {
  check: string
  ok: boolean
  finding: string
  remedy?: string
}

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('Check the settings, the database and the keys, and say what to do. Changes nothing.')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', example('ugs doctor'))
    .action(async (options: { json?: boolean }) => {
      const findings = await examine()
      if (options.json) printJson(findings)
      else for (const finding of findings) print(describe(finding))
      if (findings.some(({ ok }) => !ok)) process.exitCode = 1
    })
}

function describe({ check, ok, finding, remedy }: Finding): string {
  const text = remedy ? `${finding}\n${remedy}` : finding
  return `${ok ? 'ok  ' : 'BAD '} ${check.padEnd(10)} ${text.replaceAll('\n', `\n${' '.repeat(16)}`)}`
}

/** Each check builds on the one before; the first that fails ends the examination. */
async function examine(): Promise<Finding[]> {
  const findings: Finding[] = []
  const check = async <T>(name: string, look: () => Promise<{ finding: string; remedy?: string; value?: T }>) => {
    try {
      const { value, ...good } = await look()
      findings.push({ check: name, ok: true, ...good })
      return value
    } catch (error) {
      const { sentence, remedy } = explanation(error, 'Run it again; if it stays, report it as a bug.')
      findings.push({ check: name, ok: false, finding: sentence, remedy })
      return undefined
    }
  }

  const config = await check('settings', examineSettings)
  if (config === undefined) return findings
  const store = await check('database', () => examineDatabase(config))
  if (store === undefined) {
    const isToBeMade = findings.every(({ ok }) => ok)
    if (isToBeMade && !isMadeWithDatabase(config.masterKey)) await check('keys', async () => examineFirstKey(config))
    return findings
  }
  try {
    const tokens = await check('keys', () => examineKeys(config, store))
    await check('api tokens', () => examineApiTokens(config, store, tokens))
  } finally {
    await store.close()
  }
  return findings
}

async function examineSettings() {
  const config = readConfig(process.env)
  await refuseForeignHost(config)
  return { value: config, finding: 'All are valid.' }
}

/** On any port: the service may run already, and have its own. */
async function refuseForeignHost({ host }: Config): Promise<void> {
  // Loaded only here: most commands take less time than it does to load.
  const { createServer } = await import('../http/node-http.ts')
  const server = createServer()
  try {
    await once(server.listen({ host, port: 0 }), 'listening')
  } catch (error) {
    throw new OperatorError(
      `The service cannot listen on ${host} (${(error as NodeJS.ErrnoException).code}).`,
      'Set HOST to an address of this machine, or to 0.0.0.0 for all of them.',
      error,
    )
  } finally {
    server.close()
  }
}

async function examineDatabase({ database, masterKey }: Config) {
  if (database.engine === 'sqlite') {
    const folder = folderThatIsThere(database.path)
    refuseUnwritable(folder)
    refuseFull(folder)
    if (!isThere(database.path)) {
      refuseLoss(database.path, masterKey)
      return { finding: `${database.path} will be made at the first start.` }
    }
  }
  const store = await openStore(database, { clock: systemClock, upgrade: false, check: 'thorough' })
  const whole = database.engine === 'sqlite' ? ', the structure of its file is sound' : ''
  return { value: store, finding: `${database.engine} answers${whole}; its schema is current.` }
}

/** The one of the database, or the one in which that is to be made. */
function folderThatIsThere(path: string): string {
  const folder = dirname(path)
  return existsSync(folder) ? folder : folderThatIsThere(folder)
}

/** SQLite makes files beside the database. */
function refuseUnwritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    throw new OperatorError(
      `The folder ${folder} is not writable.`,
      'Make it writable for the user the service runs as, or check DATABASE_URL.',
      error,
    )
  }
}

/** A database can be read on a full disk, and nothing be written: neither a change nor the next start's -wal file. */
function refuseFull(folder: string): void {
  const { blocks, bavail, bsize } = statfsSync(folder)
  const left = bavail * bsize
  // Some file systems do not say how large they are.
  if (blocks === 0 || left >= leastRoom) return
  throw new OperatorError(
    `The disk of ${folder} is nearly full: ${(left / 1e6).toFixed(1)} MB are left.`,
    'Make room there: below 10 MB the service may have to refuse what writes.',
  )
}

/** The first start makes both: where the key is left alone, a start would begin anew. */
function refuseLoss(path: string, masterKey: MasterKeySource): void {
  if (isMadeWithDatabase(masterKey) && existsSync(masterKey.path))
    throw new OperatorError(
      `There is a master key, ${masterKey.path}, but no database at ${path}.`,
      'Restore a backup with ugs restore, or check DATABASE_URL. If there never was one, a start makes it.',
    )
}

function isMadeWithDatabase(source: MasterKeySource): source is MasterKeySource & { kind: 'file' } {
  return source.kind === 'file' && source.besideDatabase !== undefined
}

/** The first start makes the database, and not a key that the settings name. */
function examineFirstKey({ masterKey }: Config) {
  const { newestId } = loadKeyRing(masterKey)
  refuseReadableByOthers(masterKey)
  return { finding: `Master key ${newestId} can be used.` }
}

function refuseReadableByOthers(source: MasterKeySource): void {
  if (source.kind === 'file' && (statSync(source.path).mode & 0o077) !== 0)
    throw new OperatorError(`Others on this machine may read ${source.path}.`, `Run: chmod 600 ${source.path}`)
}

async function examineKeys({ masterKey }: Config, store: Store) {
  const ring = loadKeyRing(masterKey)
  const value = await proveKeys(ring, store.keys)
  refuseReadableByOthers(masterKey)
  if (!(await store.keys.all()).has(ring.newestId)) {
    const { message, remedy } = newKey(ring)
    return { value, finding: message, remedy }
  }
  const old = await store.keys.countSealedByOthers(ring.newestId)
  const finding = `Master key ${ring.newestId} belongs to this database.`
  if (old === 0) return { value, finding }
  return {
    value,
    finding: `${finding} An older key still seals ${counted(old, 'value')}.`,
    remedy: 'Run: ugs keys rotate',
  }
}

async function examineApiTokens({ apiToken }: Config, store: Store, tokens: Tokens | undefined) {
  const now = systemClock.now()
  const idle: number[] = []
  const teams = await store.teams.list()
  for (const { id } of teams) {
    const all = await store.forTeam(id, null).apiTokens.all()
    if (!all.some((token) => isUsable(token, now))) idle.push(id)
  }
  if (teams.length === 0)
    throw new OperatorError(
      'There is no team yet.',
      'Start the service once: it makes the first team and its API token.',
    )
  if (idle.length === 0) {
    const configured = apiToken && tokens && (await store.findCaller(tokens.hash(apiToken)))
    const wrong = configured && teams[0] ? shortcomings(configured, teams[0], now) : []
    const finding = `${teams.length === 1 ? 'The team has' : `All ${teams.length} teams have`} one that works.`
    return wrong.length === 0 ? { finding } : { finding, remedy: wrong.join('\n') }
  }
  const finding = `${idle.length === 1 ? `Team ${idle[0]} has` : `Teams ${idle.join(', ')} have`} no API token that works.`
  const create = `ugs api-token create NAME --team ${idle[0]}`
  if (idle[0] === teams[0]?.id) throw new OperatorError(finding, `Run: ${create}`)
  // A team cannot be deleted: one that was made by mistake stays without, and nothing is wrong with that.
  return { finding, remedy: `To use it, run: ${create}` }
}
