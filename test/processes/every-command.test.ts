import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runCommand, startReading } from '../support/command.ts'
import { engines } from '../support/engines.ts'
import { exploreHelp, type Help } from '../support/help.ts'
import { Premises } from '../support/premises.ts'
import { prepare } from '../support/prepare.ts'
import { rawSql } from '../support/raw-database.ts'
import { assertQuiet, assertRefusal } from '../support/refusal.ts'

const [sqlite, postgres] = engines
assert.ok(sqlite && postgres)

const customersToken = 'a-token-a-customer-has-already'

/** Every command once, in an order in which each finds what it needs. `FOLDER` and `ID` are filled in. */
const tour: { ugs: string; input?: string }[] = [
  { ugs: 'doctor' },
  { ugs: 'team create Second' },
  { ugs: 'team update --name First' },
  { ugs: 'team list' },
  { ugs: 'schema create sales' },
  { ugs: 'schema show sales' },
  { ugs: 'schema list' },
  { ugs: 'data-source create --schema sales --provided-id acme-db --connection-file -', input: '{"host":"db"}' },
  { ugs: 'data-source update acme-db --kind postgres' },
  { ugs: 'data-source show acme-db' },
  { ugs: 'data-source list' },
  { ugs: 'user-group import -', input: `{"user_group_id":"acme","token":"${customersToken}"}\n` },
  { ugs: 'user-group create beta' },
  { ugs: 'user-group update acme --name Acme' },
  { ugs: 'user-group show acme' },
  { ugs: 'user-group list' },
  { ugs: 'user-group verify', input: customersToken },
  { ugs: 'user-group rotate', input: customersToken },
  { ugs: 'user-group export FOLDER/export.jsonl' },
  { ugs: 'user-group delete acme' },
  { ugs: 'data-source delete acme-db' },
  { ugs: 'schema delete sales' },
  { ugs: 'api-token create ci' },
  { ugs: 'api-token list' },
  { ugs: 'api-token revoke ID' },
  { ugs: 'events' },
  { ugs: 'keys rotate' },
  { ugs: 'backup FOLDER/backup.db' },
  { ugs: 'restore FOLDER/backup.db --force' },
]

describe('every ugs command', () => {
  let all: Help[]
  before(async () => {
    all = await exploreHelp()
  })

  it('is on the tour of these tests', () => {
    const acting = all.filter(({ isGroup }) => !isGroup).map(({ path }) => path.join(' '))
    const missing = acting.filter(
      (name) => name !== 'serve' && !tour.some(({ ugs }) => `${ugs} `.startsWith(`${name} `)),
    )
    assert.deepEqual(missing, [])
    assert.ok(acting.length > tour.length)
  })

  it('is explained in a sentence, and if it acts, with an example that names it', () => {
    for (const { path, text, isGroup } of all) {
      const name = path.join(' ')
      assert.match(text, new RegExp(`^Usage: ugs ?${name}`))
      assert.match(text, /\n\n[A-Z][^\n]+(\n[^\n]+)*\.\n\n/, `ugs ${name} says what it is for`)
      if (!isGroup) assert.match(text, new RegExp(`\nExample:\n  .*ugs ${name}`), `ugs ${name}`)
      assert.ok(!text.includes('\x1b'), 'no colour where nobody looks')
    }
  })

  it('prints JSON when asked for it, and nothing beside it', async (t) => {
    const premises = await Premises.open(t, sqlite)
    await prepare(premises)
    let id = ''
    for (const { ugs, input = '' } of tour) {
      const words = ugs
        .replace('FOLDER', premises.database.folder as string)
        .replace('ID', id)
        .split(' ')
      const { code, stdout, stderr } = await startReading(input, premises.environment, ...words, '--json').ended
      assert.equal(code, 0, `ugs ${ugs}: ${stderr}`)
      assert.equal(stderr, '', `ugs ${ugs}`)
      const printed = JSON.parse(stdout)
      if (ugs.startsWith('api-token create')) id = String(printed.id)
      if (!['team list', 'api-token list', 'events'].includes(ugs)) continue
      const forPeople = await runCommand(premises.environment, ...words)
      assert.equal(forPeople.stderr, '')
      assert.ok(!forPeople.stdout.includes('\x1b'), 'no colour where nobody looks')
      assertAligned(forPeople.stdout, printed.length)
    }
  })

  it('makes neither a database nor a key where there is none: that is left to the start', async (t) => {
    const premises = await Premises.open(t, sqlite, { UGS_MASTER_KEY: undefined })
    const folder = premises.database.folder as string
    const onDatabase = tour.filter(({ ugs }) => !/^(doctor|restore)/.test(ugs))
    for (const { ugs, input = '' } of onDatabase) {
      const words = ugs.replace('FOLDER', folder).replace('ID', '1').split(' ')
      const ended = await startReading(input, premises.environment, ...words).ended
      assertRefusal(ended, /There is no database at .*test\.db/, /DATABASE_URL/)
      assert.deepEqual(readdirSync(folder), [], `ugs ${ugs}`)
    }
  })
})

describe('a ugs command on PostgreSQL', () => {
  for (const [state, makeOlder, refusal] of [
    ['an empty database', undefined, /holds nothing of this service/],
    ['a database of an older version', 'delete from schema_version where version > 1', /is at schema version 1;/],
  ] as const)
    it(`leaves ${state} as it is: to fill or migrate it is left to the start`, async (t) => {
      const premises = await Premises.open(t, postgres)
      const sql = (statement: string) => rawSql(premises.environment, statement)
      if (makeOlder !== undefined) {
        await prepare(premises)
        await sql(makeOlder)
      }
      const inventory = () => sql('select relname from pg_class order by relname')
      const before = await inventory()
      for (const ugs of ['team list', 'user-group show acme', 'keys rotate'])
        assertRefusal(await runCommand(premises.environment, ...ugs.split(' ')), refusal, /start/i)
      assert.deepEqual(await inventory(), before)
      if (makeOlder !== undefined) assert.equal((await sql('select * from schema_version')).length, 1)
    })
})

describe('a ugs command called wrongly', { concurrency: 3 }, () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'ugs-wrong-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const args of [
    [],
    ['frobnicate'],
    ['help', 'frobnicate'],
    ['backup', '-'],
    ['team'],
    ['team', 'create'],
    ['team', 'list', '--frobnicate'],
    ['user-group', 'show', '-acme'],
    ['api-token', 'create', 'x', '--expires', 'soon'],
    ['api-token', 'create', 'x', '--expires', '2027-02-30'],
  ])
    it(`exits 2, says how to call it, and does nothing: ugs ${args.map((arg) => arg || '""').join(' ')}`, async () => {
      const ended = await runCommand({ DATABASE_URL: `sqlite:${join(folder, 'test.db')}` }, ...args)
      assert.equal(ended.code, 2, ended.stderr)
      assert.equal(ended.stdout, '')
      assert.match(ended.stderr, /^(error: .+\n.*--help.*\n?|Usage: ugs.+)$/s)
      assert.equal(/begins with a dash goes behind --/.test(ended.stderr), args.at(-1) === '-acme')
      if (args.at(-1) === 'frobnicate') assert.match(ended.stderr, /unknown command 'frobnicate'/)
      assert.ok(!ended.stderr.includes('\x1b'), 'no colour where nobody looks')
      assertQuiet(ended)
      assert.deepEqual(readdirSync(folder), [])
    })
})

/** Every row has a cell, and two spaces before it, where its heading stands. */
function assertAligned(table: string, count: number): void {
  const [headings = '', ...rows] = table.trimEnd().split('\n')
  assert.equal(rows.length, count)
  for (const { index } of headings.matchAll(/(?<=^| {2})\S/g))
    for (const row of rows) assert.match(row.slice(Math.max(0, index - 2)), index > 0 ? /^ {2}\S/ : /^\S/, table)
}
