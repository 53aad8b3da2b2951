import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { settings } from '../../src/config.ts'
import { type ServiceProcess, startService } from '../support/service-process.ts'
import { read } from './markdown.ts'
import { Shell } from './shell.ts'

const shownAddress = 'http://127.0.0.1:8080'
const shownBackups = /(?<!\w)\/backups\//g
const shownHome = '/home/ada/'
const shownData = /(?<![\w/])data\//g

/**
 * Does what a document says, block by block, in one shell or each in its own. Only this is replaced, so that it disturbs
 * nothing:
 *
 * - `npm start` becomes the same `serve` on a free port, with what the shell exports by then; on SQLite the database is
 *   in a temporary folder. Installing, which the script does first, has happened for whoever runs this test.
 * - `npm test` is not run within itself; there must be a script of that name.
 * - the address, the home and the folders of the database and for backups are those of this test.
 */
export class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), 'ugs-reader-'))
  readonly #environment: Record<string, string | undefined>
  #shell: Shell
  readonly #replaced: [shown: string, here: string][]
  #service: ServiceProcess | undefined

  /** What else is shown, and what it is here. */
  constructor(replaced: [shown: string, here: string][] = [], exported: Record<string, string> = {}) {
    const { PATH, TMPDIR, LANG } = process.env
    this.#replaced = replaced
    this.#environment = {
      ...{ PATH, HOME: this.folder, TMPDIR, LANG },
      DATABASE_URL: `sqlite:${this.folder}/data/user-groups.db`,
      ...exported,
    }
    this.#shell = new Shell(this.#environment)
  }

  get service(): ServiceProcess {
    assert.ok(this.#service, 'the service was not started')
    return this.#service
  }

  /** What a block prints. */
  async run(text: string): Promise<string> {
    let printed = ''
    for (const part of text.split(/^(npm start|npm test)\n/m)) {
      if (part === 'npm start') await this.#start()
      else if (part === 'npm test') assert.ok(JSON.parse(read('package.json')).scripts.test)
      else if (part !== '') printed += await this.#shell.run(this.#here(part))
    }
    return printed
  }

  /** The same in a shell of its own, as where one before it was left with a service in the foreground. */
  async runApart(text: string): Promise<string> {
    assert.doesNotMatch(text, /^npm start\n./m, 'what comes behind it would wait until the service ends')
    await this.#shell.close()
    this.#shell = new Shell(this.#environment)
    return this.run(text)
  }

  /** Without what differs from run to run: tokens, ids, key ids, times, places. */
  normal(text: string): string {
    return text
      .trim()
      .replaceAll(`${this.folder}/`, shownHome)
      .replaceAll(/\bug([ta])_[0-9A-Za-z]{38}\b/g, 'ug$1_TOKEN')
      .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'REQUEST_ID')
      .replaceAll(/\b\d{15,16}\b/g, 'ID')
      .replaceAll(/\bMaster key [0-9a-f]{8}\b/g, 'Master key KEY')
      .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, 'DATE')
  }

  async close(): Promise<void> {
    await this.#service?.stop()
    await this.#shell.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const { scripts } = JSON.parse(read('package.json'))
    assert.equal(scripts.start, 'exec node bin/ugs.mjs serve', 'startService() runs the same')
    await this.#service?.stop()
    const exported = await this.#shell.environment()
    const chosen = settings.map(({ name }) => [name, exported[name]])
    this.#service = await startService({ ...Object.fromEntries(chosen), PORT: '0' })
  }

  #here(text: string): string {
    const known = text
      .replaceAll(shownAddress, this.#service?.url ?? shownAddress)
      .replaceAll(shownBackups, `${this.folder}/`)
      .replaceAll(shownData, `${this.folder}/data/`)
    return this.#replaced.reduce((shown, [from, to]) => shown.replaceAll(from, to), known)
  }
}
