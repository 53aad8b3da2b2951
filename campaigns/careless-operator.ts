import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Canaries } from '../test/support/canaries.ts'
import { canary } from '../test/support/carelessness.ts'
import { type Command, startReading } from '../test/support/command.ts'
import { newMasterKey } from '../test/support/engines.ts'
import { failingStart } from '../test/support/refusal.ts'
import type { Environment } from '../test/support/service-process.ts'
import { commandLines, filesIn, type Place } from './secret-places.ts'

/** Runs the commands that deal with secrets, rightly and wrongly, and collects all that they leave behind. */
export class CarelessOperator {
  readonly secrets: Canaries = new Map()
  readonly places: Place[] = []
  readonly #environment: Environment
  /** Where exports and backups go. */
  readonly #folder: string
  readonly #name = `operated-${randomBytes(4).toString('hex')}`

  constructor(environment: Environment, folder: string) {
    this.#environment = environment
    this.#folder = folder
  }

  async runCommands(): Promise<void> {
    const [token, connection] = [canary('imported'), canary('connection')]
    this.secrets.set('imported token', token).set('connection of a file', connection)
    const file = (ending: string) => join(this.#folder, `${this.#name}${ending}`)
    const imported = JSON.stringify({ user_group_id: this.#name, token })
    const source = ['--schema', 'sales', '--provided-id', `${this.#name}-db`, '--connection-file', '-']
    await this.#finish([
      this.#start(imported, 'user-group', 'import', '-'),
      this.#start(JSON.stringify({ password: connection }), 'data-source', 'create', ...source),
    ])
    const isSqlite = this.#environment.DATABASE_URL?.startsWith('sqlite:')
    await this.#finish([
      this.#start('', 'user-group', 'export', file('.csv')),
      this.#start('', isSqlite ? 'backup' : 'doctor', ...(isSqlite ? [file('.db')] : [])),
    ])
    const rotated = await this.#start(token, 'user-group', 'rotate', '--json').ended
    this.secrets.set('token of a command', JSON.parse(rotated.stdout).token)
    this.places.push({ name: 'what rotate says beside the token', content: rotated.stderr })
  }

  /** A token as an argument, settings that are wrong: what is refused must not be repeated. */
  async makeMistakes(token: string): Promise<void> {
    const { DATABASE_URL = '', UGS_MASTER_KEY: key = '' } = this.#environment
    const [password, wrongKey] = [canary('password'), newMasterKey()]
    this.secrets.set('password of no server', password).set('wrong master key', wrongKey)
    const starts = [
      failingStart({ ...this.#environment, UGS_MASTER_KEY: wrongKey }),
      failingStart({
        ...this.#environment,
        UGS_MASTER_KEY: `${key},${wrongKey}x`,
        UGS_API_TOKN: token,
        DATABASE_URL: `${password} ${DATABASE_URL}`,
      }),
      failingStart({ ...this.#environment, DATABASE_URL: `postgres://ugs:${password}@127.0.0.1:1/ugs` }),
    ]
    const revoking = this.#start('', 'api-token', 'revoke', token).ended
    for (const { code, stdout, stderr } of await Promise.all([...starts, revoking])) {
      assert.notEqual(code, 0)
      this.places.push({ name: 'a refusal at the terminal', content: stdout + stderr })
    }
  }

  #start(input: string, ...args: string[]): Command {
    return startReading(input, this.#environment, ...args)
  }

  async #finish(commands: readonly Command[]): Promise<void> {
    this.places.push(...commandLines())
    for (const { code, stdout, stderr } of await Promise.all(commands.map(({ ended }) => ended))) {
      assert.equal(code, 0, stderr)
      this.places.push({ name: 'the output of a command', content: stdout + stderr })
    }
    this.places.push(...filesIn(this.#folder))
  }
}
