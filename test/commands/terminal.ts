import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { scopes } from '../../src/api-tokens/api-token.ts'
import { readJsonLine, wishFor } from '../../src/commands/import-record.ts'
import { operate, type Request } from '../../src/commands/operate.ts'
import { readConfig } from '../../src/config.ts'
import { newId } from '../../src/ids.ts'
import { openService, type Service } from '../../src/service.ts'
import type { Engine, FreshDatabase } from '../support/engines.ts'
import { type Environment, ugs, ugsReading } from '../support/service-process.ts'

export interface Terminal {
  readonly environment: Environment
  /** A path in a folder that is gone with the suite. */
  file(name: string): string
  run(...args: string[]): ReturnType<typeof ugs>
  reading(input: string | Uint8Array, ...args: string[]): ReturnType<typeof ugs>
  /** What a command that succeeds prints with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what a test is about to assert.
  json(...args: string[]): Promise<any>
  /** What an operation answers. This and the next are done without a command, which takes longer to start than to run. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what a test is about to assert.
  perform(team: readonly string[], operation: string, request?: Request): Promise<any>
  /** A new team, as an option. */
  newTeam(): Promise<['--team', string]>
  /** One that an operator chose. */
  addApiToken(team: readonly string[], token: string): Promise<void>
  /** Groups as an import makes them, each field as a line of the file has it. */
  importLines(team: readonly string[], ...lines: object[]): Promise<void>
}

/** Call it in a suite: an operator before a new database that no service runs on. */
export function atTerminal(engine: Engine): Terminal {
  let database: FreshDatabase
  let folder: string
  let service: Service
  before(async () => {
    database = await engine.freshDatabase()
    folder = mkdtempSync(join(tmpdir(), 'ugs-terminal-'))
    service = await openService(readConfig(database.environment), { bringsKey: true })
  })
  after(async () => {
    await service.store.close()
    rmSync(folder, { recursive: true, force: true })
    await database.remove()
  })
  const terminal: Terminal = {
    get environment() {
      return database.environment
    },
    file: (name) => join(folder, name),
    run: (...args) => ugs(database.environment, ...args),
    reading: (input, ...args) => ugsReading(input, database.environment, ...args),
    async json(...args) {
      const { code, stdout, stderr } = await terminal.run(...args, '--json')
      assert.equal(code, 0, stderr)
      return JSON.parse(stdout)
    },
    perform: (team, operation, request = {}) => operate(service, Number(team[1]), operation, request),
    async newTeam() {
      return ['--team', String((await service.store.teams.create('A team', Date.now())).id)]
    },
    async addApiToken(team, token) {
      const { store, tokens } = service
      const now = Date.now()
      const added = { id: newId(now), name: 'chosen', scopes, hash: tokens.hash(token), expiresAt: null }
      assert.ok(await store.forTeam(Number(team[1]), null).apiTokens.add(added, now))
    },
    async importLines(team, ...lines) {
      const { store, tokens } = service
      const teamId = Number(team[1])
      const wishes = lines.map((line) => wishFor(readJsonLine(JSON.stringify(line)), tokens, teamId, Date.now()))
      const outcomes = await store.forTeam(teamId, null).userGroups.importBatch(wishes, Date.now())
      for (const outcome of outcomes) assert.equal(outcome, 'created')
    },
  }
  return terminal
}

export function jsonLines(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
