import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { operations } from '../../src/app.ts'
import { settings } from '../../src/config.ts'
import { documentRoutes } from '../../src/http/documents.ts'
import { engines, type FreshDatabase } from '../support/engines.ts'
import { type ServiceProcess, startService, ugs } from '../support/service-process.ts'
import { fences, inCode, read, rowsOf, table, tableIn } from './markdown.ts'
import { Shell } from './shell.ts'

const readme = read('README.md')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/**
 * Every `sh` block is run as it is written, in order, in one shell, and a block of another kind right behind it is what
 * it must print. Only this is replaced, so that the test disturbs nothing:
 *
 * - `npm start` becomes the same `serve` on a free port, with what the shell exports by then; on SQLite the database is
 *   in a temporary folder. Installing, which the script does first, has happened for whoever runs this test.
 * - `npm test` is not run within itself; there must be a script of that name.
 * - the address, the PostgreSQL server and the folder for backups below are those of this test, and so is npx's cache.
 */
const shownAddress = 'http://127.0.0.1:8080'
const shownPostgres = 'postgres://ugs:secret@db.example.com/ugs'
const shownBackups = '/backups/'

describe('the commands of README.md', () => {
  const blocks = fences(readme)
  const folder = mkdtempSync(join(tmpdir(), 'ugs-readme-'))
  let shell: Shell
  let postgres: FreshDatabase
  let service: ServiceProcess | undefined

  before(async () => {
    const engine = engines.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine)
    postgres = await engine.freshDatabase()
    const { PATH, HOME, TMPDIR, LANG } = process.env
    shell = new Shell({
      ...{ PATH, HOME, TMPDIR, LANG },
      DATABASE_URL: `sqlite:${folder}/data/user-groups.db`,
      npm_config_cache: `${folder}/npm`,
    })
  })
  after(async () => {
    await service?.stop()
    await shell.close()
    await postgres.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  it('all stand in blocks that this test runs, each answer right behind its command', () => {
    for (const [index, { language, follows }] of blocks.entries()) {
      if (language === 'sh') continue
      assert.match(language, /^(json|text)$/)
      assert.ok(follows && blocks[index - 1]?.language === 'sh', `block ${index + 1} answers no command`)
    }
  })

  for (const [index, { language, text }] of blocks.entries()) {
    if (language !== 'sh') continue
    const [title = ''] = text.split('\n')
    it(`${index + 1}: ${title}`, async () => {
      const printed = await runBlock(text)
      const answer = blocks[index + 1]
      if (answer && answer.language !== 'sh') assert.equal(normal(printed), normal(answer.text))
    })
  }

  async function runBlock(text: string): Promise<string> {
    let printed = ''
    for (const part of text.split(/^(npm start|npm test)\n/m)) {
      if (part === 'npm start') await start()
      else if (part === 'npm test') assert.ok(scripts.test)
      else if (part !== '') printed += await shell.run(here(part))
    }
    return printed
  }

  async function start(): Promise<void> {
    assert.equal(scripts.start, 'exec node bin/ugs.mjs serve', 'startService() runs what bin/ugs.mjs loads')
    await service?.stop()
    const exported = await shell.environment()
    const chosen = settings.map(({ name }) => [name, exported[name]])
    service = await startService({ ...Object.fromEntries(chosen), PORT: '0' })
  }

  function here(text: string): string {
    return text
      .replaceAll(shownAddress, service?.url ?? shownAddress)
      .replaceAll(shownPostgres, postgres.environment.DATABASE_URL)
      .replaceAll(shownBackups, `${folder}/`)
  }

  /** Without what differs from run to run: tokens, ids, key ids, times, places. */
  function normal(text: string): string {
    return text
      .trim()
      .replaceAll(`${folder}/`, shownBackups)
      .replaceAll(/\bug([ta])_[0-9A-Za-z]{38}\b/g, 'ug$1_TOKEN')
      .replaceAll(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'REQUEST_ID')
      .replaceAll(/\b\d{15,16}\b/g, 'ID')
      .replaceAll(/\bMaster key [0-9a-f]{8}\b/g, 'Master key KEY')
      .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b\d{4}-\d\d-\d\d\b/g, 'DATE')
  }
})

describe('README.md', () => {
  it('lists the operations of src/app.ts, and what else can be asked', () => {
    const headings = ['Method', 'Path', 'Scope', 'What it does']
    const declared = operations.map(({ method, path, scope, summary }) => {
      return [method, inCode(path), scope === null ? 'none' : inCode(scope), summary]
    })
    const others = [
      ['GET', inCode('/metrics'), inCode('admin'), 'Figures for Prometheus.'],
      ['GET', inCode('/api/openapi.json'), 'none', 'This list for programs, as OpenAPI.'],
      ['GET', inCode('/api/docs'), 'none', 'This list for people, with fields and examples.'],
    ]
    assert.deepEqual(
      documentRoutes(operations, '').map(({ path }) => path),
      ['/api/openapi.json', '/api/docs'],
    )
    assert.equal(tableIn('README.md', ...headings), table(headings, [...declared, ...others]))
  })

  it('names npm scripts that exist', () => {
    for (const [command = ''] of rowsOf(tableIn('README.md', 'Run', 'What it does')))
      assert.ok(scripts[command.replace(/^`npm (.*)`$/, '$1')], command)
  })

  it('lists the commands of ugs', async () => {
    const listed = rowsOf(tableIn('README.md', 'Command', 'What it does')).map(([command]) => command)
    assert.deepEqual(
      listed,
      (await allCommands()).map((words) => inCode(`ugs ${words}`)),
    )
  })
})

/** All commands that do something, of one word or of two. */
async function allCommands(): Promise<string[]> {
  const groups = (await namesInHelp()).map(async (group) => {
    const names = await namesInHelp(group)
    return names.length === 0 ? [group] : names.map((name) => `${group} ${name}`)
  })
  return (await Promise.all(groups)).flat()
}

async function namesInHelp(...words: string[]): Promise<string[]> {
  const { stdout } = await ugs({}, ...words, '--help')
  const [, list = ''] = stdout.split('\nCommands:\n')
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name = '']) => name)
  return names.filter((name) => name !== 'help')
}
