import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { documentRoutes } from '../../src/http/documents.ts'
import { operations } from '../../src/operations.ts'
import { Caller } from '../support/caller.ts'
import { engines, type FreshDatabase } from '../support/engines.ts'
import { eventually } from '../support/eventually.ts'
import { running } from '../support/running.ts'
import { ugs } from '../support/service-process.ts'
import { fences, inCode, read, rowsOf, table, tableIn } from './markdown.ts'
import { Reader } from './reader.ts'

const readme = read('README.md')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

const [, exampleToken = ''] = /^export UGS_API_TOKEN=(.+)$/m.exec(readme) ?? []
const shownPostgres = 'postgres://ugs:secret@db.example.com/ugs'

/** Every `sh` block is run as it is written, in order, and a block of another kind right behind it is what it prints. */
describe('the commands of README.md', () => {
  const blocks = fences(readme)
  let reader: Reader
  let postgres: FreshDatabase

  before(async () => {
    const engine = engines.find(({ name }) => name === 'PostgreSQL')
    assert.ok(engine)
    postgres = await engine.freshDatabase()
    reader = new Reader([[shownPostgres, postgres.environment.DATABASE_URL]])
  })
  after(async () => {
    await reader.close()
    await postgres.remove()
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
      const printed = await reader.run(text)
      const answer = blocks[index + 1]
      if (answer && answer.language !== 'sh') assert.equal(reader.normal(printed), reader.normal(answer.text))
    })
  }

  it('leave their example of an API token behind when they end on PostgreSQL', async () => {
    const caller = new Caller(reader.service.url, exampleToken)
    const { status } = await caller.getOrCreate('acme')
    await caller.close()
    assert.equal(status, 401)
  })
})

describe('README.md', () => {
  it('has an example of an API token, of which the start warns', async (t) => {
    const [sqlite] = engines
    assert.ok(sqlite)
    const { service } = await running(t, sqlite, { UGS_API_TOKEN: exampleToken })
    await eventually('it warns', () => /^Warning: UGS_API_TOKEN is the example/m.test(service.output().stderr))
  })

  it('lists the operations of src/operations.ts, and what else can be asked', () => {
    const headings = ['Method', 'Path', 'Scope', 'What it does']
    const declared = operations.map(({ method, path, scope, summary }) => {
      return [method, inCode(path), scope === null ? 'none' : inCode(scope), summary]
    })
    const others = [
      ['GET', inCode('/metrics'), inCode('admin'), 'Figures of all teams for Prometheus; for the first team.'],
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
